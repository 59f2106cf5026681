// Shows name, color and icon of the identity at the edge of the top document. Runs in an isolated world. The page sees
// an empty element after its body; the closed shadow root, which the page cannot open, has the rest. INDICATOR is
// {name, color, ink, shapes, programs} or null; programs is the sentence about connected programs, empty without any.
((indicator) => {
  if (window !== window.top) return;
  const HTML = "http://www.w3.org/1999/xhtml", SVG = "http://www.w3.org/2000/svg";
  let host = null, sheet = null, badge = null, icon = null, attempts = 0, since = 0;
  let onlyPrograms = false; // the start page shows the identity itself

  // !important in a shadow root overrides the page's styles of the host, whatever they are.
  const css = ({ name, color, ink, programs }) => `
    :host { all: initial !important; display: block !important; position: fixed !important; inset: 0 !important;
      z-index: 2147483647 !important; pointer-events: none !important; contain: strict !important;
      visibility: visible !important; box-sizing: border-box !important; width: 100vw !important;
      width: stretch !important; height: 100vh !important; height: stretch !important;
      color-scheme: only light !important; }
    :host::backdrop { display: none !important; }
    section { position: absolute; inset: 0; border: 3px solid ${color}; }
    div { position: absolute; top: 0; left: 50%; transform: translateX(-50%); display: flex; box-sizing: border-box;
      max-width: min(560px, 80%); height: 22px; border-radius: 0 0 9px 9px; overflow: hidden; background: ${color};
      font: 600 12px/22px system-ui, sans-serif; letter-spacing: .01em; white-space: nowrap; box-shadow: 0 1px 4px #0007;
      transition: opacity .12s; }
    i, b { display: flex; align-items: center; gap: 6px; min-width: 0; font: inherit; }
    i { flex: none; box-sizing: border-box; max-width: ${programs ? "min(240px, 45%)" : "min(240px, 100%)"};
      padding: 0 ${programs ? 9 : 12}px 0 8px; color: ${ink}; }
    b { display: ${programs ? "flex" : "none"}; margin: 3px 3px 3px 0; padding: 0 9px 0 8px; background: #15141a;
      border-radius: 4px 4px 7px 4px; color: #fbfbfe; font-size: 11px; line-height: 16px; font-weight: 500; }
    b::before { content: ""; flex: none; width: 7px; height: 7px; border-radius: 50%; background: ${color}; }
    i::after, b::after { overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
    i::after { content: ${JSON.stringify(name)}; }
    b::after { content: ${JSON.stringify(programs)}; }
    div.away { opacity: .08; }
    svg { flex: none; width: 16px; height: 16px; }
    @media print { :host { display: none !important; } }
    @media (display-mode: fullscreen) { div { display: none; } }`;

  const drawShape = ([tag, attributes, children]) => {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    shape.append(...children.map(drawShape));
    return shape;
  };
  const draw = () => {
    sheet.replaceSync(css(indicator));
    icon.replaceChildren(...indicator.shapes.map(drawShape));
  };

  const create = () => {
    host = document.createElementNS(HTML, "x-edge");
    const root = host.attachShadow({ mode: "closed" });
    sheet = new CSSStyleSheet();
    root.adoptedStyleSheets = [sheet];
    badge = document.createElementNS(HTML, "div");
    badge.ariaHidden = "true";
    icon = document.createElementNS(SVG, "svg");
    icon.setAttribute("viewBox", "0 0 20 20");
    const identity = document.createElementNS(HTML, "i");
    identity.append(icon);
    badge.append(identity, document.createElementNS(HTML, "b"));
    root.append(document.createElementNS(HTML, "section"), badge);
    host.addEventListener("toggle", (event) => event.isTrusted && show());
    draw();
  };

  // If the page undoes every change, the page wins: the two must not use up the processor.
  const mayChange = () => {
    const now = performance.now();
    if (now - since > 1000) [since, attempts] = [now, 0];
    return ++attempts <= 20;
  };

  const isShown = () => indicator !== null && (!onlyPrograms || indicator.programs !== "");
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
