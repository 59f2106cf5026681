// Shows name, color and icon of the identity at the edge of the top document. Runs in an isolated world. The page sees
// an empty element after its body; the closed shadow root, which the page cannot open, has the rest. INDICATOR is
// {name, color, ink, shapes, programs} or null; programs is the sentence about connected programs, empty without any.
// With `request`, {message}, a panel shows what a program requests of the person, and sends the answer to the engine. Only
// a real click counts, and the page cannot reach the buttons.
((indicator) => {
  if (window !== window.top) return;
  const HTML = "http://www.w3.org/1999/xhtml", SVG = "http://www.w3.org/2000/svg";
  let host = null, sheet = null, badge = null, icon = null, panel = null, attempts = 0, since = 0;
  let onlyPrograms = false; // the start page shows the identity itself

  // !important in a shadow root overrides the page's styles of the host, whatever they are.
  const css = ({ name, color, ink, programs }) => `
    :host { all: initial !important; display: block !important; position: fixed !important; inset: 0 !important;
      z-index: 2147483647 !important; pointer-events: none !important; contain: strict !important;
      visibility: visible !important; box-sizing: border-box !important; width: 100vw !important;
      width: stretch !important; height: 100vh !important; height: stretch !important;
      color-scheme: only light !important; }
    :host::backdrop { display: none !important; }
    section.edge { position: absolute; inset: 0; border: 3px solid ${color}; }
    div.badge { position: absolute; top: 0; left: 50%; transform: translateX(-50%); display: flex; box-sizing: border-box;
      max-width: min(560px, 80%); height: 22px; border-radius: 0 0 9px 9px; overflow: hidden; background: ${color};
      font: 600 12px/22px system-ui, sans-serif; letter-spacing: .01em; white-space: nowrap; box-shadow: 0 1px 4px #0007;
      transition: opacity .12s; }
    .badge i, .badge b { display: flex; align-items: center; gap: 6px; min-width: 0; font: inherit; }
    .badge i { flex: none; box-sizing: border-box; max-width: ${programs ? "min(240px, 45%)" : "min(240px, 100%)"};
      padding: 0 ${programs ? 9 : 12}px 0 8px; color: ${ink}; }
    .badge b { display: ${programs ? "flex" : "none"}; margin: 3px 3px 3px 0; padding: 0 9px 0 8px; background: #15141a;
      border-radius: 4px 4px 7px 4px; color: #fbfbfe; font-size: 11px; line-height: 16px; font-weight: 500; }
    .badge b::before { content: ""; flex: none; width: 7px; height: 7px; border-radius: 50%; background: ${color}; }
    .badge i::after, .badge b::after { overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
    .badge i::after { content: ${JSON.stringify(name)}; }
    .badge b::after { content: ${JSON.stringify(programs)}; }
    div.badge.away { opacity: .08; }
    svg { flex: none; width: 16px; height: 16px; }
    @media print { :host { display: none !important; } }
    @media (display-mode: fullscreen) { div.badge { display: none; } }`;

  const panelCss = ({ color, ink }) => `
    aside { --back: #ffffff; --text: #15141a; --muted: #5b5b66; --line: #d7d7db; --hover: #f0f0f4;
      position: absolute; bottom: 15px; left: 50%; transform: translateX(-50%); box-sizing: border-box;
      width: min(640px, calc(100% - 30px)); pointer-events: auto; overflow: hidden; border-radius: 12px;
      border: 1px solid var(--line); background: var(--back); color: var(--text); box-shadow: 0 6px 28px #0005;
      font: 14px/20px system-ui, sans-serif; text-align: start; user-select: none; cursor: default; }
    @media (prefers-color-scheme: dark) {
      aside { --back: #2b2a33; --text: #fbfbfe; --muted: #bfbfc9; --line: #52525e; --hover: #3d3c47; } }
    header { display: flex; align-items: center; gap: 8px; padding: 8px 8px 0 16px; color: var(--muted);
      font-size: 13px; font-weight: 600; }
    header span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    header i { flex: none; width: 10px; height: 10px; border-radius: 50%; background: ${color}; }
    aside p { margin: 0; padding: 2px 16px 0; max-height: 110px; overflow-y: auto; overflow-wrap: anywhere;
      font-size: 15px; line-height: 20px; unicode-bidi: isolate; user-select: text; }
    footer { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 12px 16px 14px; }
    footer span { flex: 1 1 220px; color: var(--muted); font-size: 13px; line-height: 18px; }
    button { flex: none; box-sizing: border-box; min-height: 36px; padding: 0 16px; border: 1px solid var(--line);
      border-radius: 8px; background: none; color: inherit; font: 600 14px/20px system-ui, sans-serif; cursor: pointer; }
    button:hover { background: var(--hover); }
    button.done { border-color: transparent; background: ${color}; color: ${ink}; }
    button.done:hover { filter: brightness(.93); }
    button:focus-visible { outline: 2px solid var(--text); outline-offset: 2px; }
    button.fold { min-height: 32px; padding: 0 10px; border-color: transparent; color: var(--muted); font-size: 13px; }
    aside.folded { width: auto; max-width: calc(100% - 30px); }
    aside.folded header { padding: 4px 4px 4px 14px; }
    aside.folded p, aside.folded footer { display: none; }
    @media (max-width: 480px) {
      footer span { flex-basis: 100%; }
      footer button { flex: 1; } }`;

  const drawShape = ([tag, attributes, children]) => {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    shape.append(...children.map(drawShape));
    return shape;
  };
  const draw = () => {
    sheet.replaceSync(indicator.request ? css(indicator) + panelCss(indicator) : css(indicator));
    drawPanel();
    icon.replaceChildren(...indicator.shapes.map(drawShape));
  };

  const add = (parent, tag, text = "", name = "") => {
    const element = document.createElementNS(HTML, tag);
    element.textContent = text;
    if (name) element.className = name;
    parent.append(element);
    return element;
  };
  const onClick = (button, act) => button.addEventListener("click", (event) => event.isTrusted && act());
  const drawPanel = () => {
    panel.replaceChildren();
    panel.hidden = !indicator.request;
    if (panel.hidden) return;
    const header = add(panel, "header");
    add(header, "i");
    add(header, "span", indicator.request.ended || "An agent asks you");
    const fold = add(header, "button", "Hide", "fold");
    onClick(fold, () => { fold.textContent = panel.classList.toggle("folded") ? "Show" : "Hide"; });
    add(panel, "p", indicator.request.message);
    if (indicator.request.ended) return;
    const footer = add(panel, "footer");
    add(footer, "span", "The agent does not see this page.");
    for (const [text, answer] of [["Cannot do it", "refused"], ["Done", "done"]]) {
      onClick(add(footer, "button", text, answer), () => hatbox(JSON.stringify([0, "answered", answer])));
    }
  };

  const create = () => {
    host = document.createElementNS(HTML, "x-edge");
    const root = host.attachShadow({ mode: "closed" });
    sheet = new CSSStyleSheet();
    root.adoptedStyleSheets = [sheet];
    add(root, "section", "", "edge");
    badge = add(root, "div", "", "badge");
    badge.ariaHidden = "true";
    icon = document.createElementNS(SVG, "svg");
    icon.setAttribute("viewBox", "0 0 20 20");
    add(badge, "i").append(icon);
    add(badge, "b");
    panel = add(root, "aside");
    panel.ariaLabel = "Request of an agent";
    for (const name of ["pointerdown", "mousedown", "click", "keydown"]) { // a page may close what is open on a click
      panel.addEventListener(name, (event) => event.stopPropagation());
    }
    host.addEventListener("toggle", (event) => event.isTrusted && show());
    draw();
  };

  // If the page undoes every change, the page wins: the two must not use up the processor.
  const mayChange = () => {
    const now = performance.now();
    if (now - since > 1000) [since, attempts] = [now, 0];
    return ++attempts <= 20;
  };

  const isShown = () => indicator !== null && (!onlyPrograms || indicator.programs !== "" || indicator.request);
  const show = () => {
    const parent = document.documentElement;
    if (!isShown() || parent === null || parent.namespaceURI !== HTML) return;
    if (document.body === null && document.readyState === "loading") return;
    if (host !== null && host.ownerDocument !== document) host = null;
    if (host === null) create();
    if (host.parentNode !== parent && mayChange()) parent.append(host);
    if (!host.isConnected) return;
    if (host.popover !== "manual") host.popover = "manual"; // the top layer: above dialogs, and not affected by styles
    if (!host.matches(":popover-open") && mayChange()) host.showPopover();
  };

  // To the front again: another element may have entered the top layer.
  const raise = () => {
    if (host === null || !host.isConnected || !mayChange()) return;
    if (host.matches(":popover-open")) host.hidePopover();
    show();
  };

  const onMove = (event) => {
    if (badge === null || !event.isTrusted) return; // a page must not hide the badge
    const { left, right, bottom } = badge.getBoundingClientRect();
    badge.classList.toggle("away", event.clientY < bottom + 12 && event.clientX > left - 12 && event.clientX < right + 12);
  };

  const inRoot = new MutationObserver(show);
  const observe = () => {
    if (document.documentElement === null) return;
    inRoot.disconnect();
    inRoot.observe(document.documentElement, { childList: true });
    show();
  };
  const onToggle = (event) => {
    if (event.isTrusted && event.target !== host && event.newState === "open") raise();
  };
  const listen = () => { // again for each root element: document.open() removes all listeners
    for (const name of ["DOMContentLoaded", "load", "pageshow"]) window.addEventListener(name, observe);
    window.addEventListener("mousemove", onMove, { capture: true, passive: true });
    window.addEventListener("toggle", onToggle, true);
    document.addEventListener("fullscreenchange", raise);
    observe();
  };
  new MutationObserver(listen).observe(document, { childList: true });
  listen();

  // The engine calls this function.
  self.hatboxIndicator = (other) => {
    indicator = other;
    if (!isShown()) host?.remove();
    else if (host !== null) draw();
    show();
  };
  // The start page calls this one.
  self.hatboxOnlyPrograms = () => {
    onlyPrograms = true;
    self.hatboxIndicator(indicator);
  };
})(INDICATOR);
