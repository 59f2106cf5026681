// Draws the actions of extensions in a blank tab. Runs in an isolated world of about:blank, and reports clicks by index.
((buttons) => {
  const root = globalThis.hatboxStartPage ??= create();
  const text = JSON.stringify(buttons);
  if (root.drawn === text) return;
  root.drawn = text;
  root.list.replaceChildren(...buttons.map(draw));
  root.host.hidden = buttons.length === 0;

  function create() {
    const host = document.createElement("div");
    const shadow = host.attachShadow({mode: "closed"});
    const style = document.createElement("style");
    style.textContent = `
      :host { position: fixed; inset: 0; display: grid; place-items: center; color-scheme: light dark;
        color: CanvasText; background: Canvas; font: 15px/1.4 system-ui, sans-serif; }
      :host([hidden]) { display: none; }
      main { max-width: 44em; padding: 2em; }
      h1 { font-size: 1em; font-weight: 600; margin: 0 0 1em; opacity: 0.75; }
      ul { display: flex; flex-wrap: wrap; gap: 0.75em; list-style: none; margin: 0; padding: 0; }
      li { display: flex; }
      button { position: relative; width: 8.5em; min-height: 7em; padding: 0.9em 0.6em; font: inherit; cursor: pointer;
        color: inherit; background: color-mix(in srgb, CanvasText 5%, Canvas); border-radius: 0.6em;
        border: 1px solid color-mix(in srgb, CanvasText 18%, Canvas); overflow-wrap: anywhere; }
      button:hover:enabled { background: color-mix(in srgb, CanvasText 11%, Canvas); }
      button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
      button:disabled { opacity: 0.5; cursor: default; }
      img, .letter { display: grid; place-items: center; width: 32px; height: 32px; margin: 0 auto 0.6em; }
      .letter { border-radius: 50%; background: color-mix(in srgb, CanvasText 15%, Canvas); font-weight: 600; }
      .badge { position: absolute; top: 0.5em; inset-inline-end: 0.5em; min-width: 1.5em; padding: 0 0.4em; box-sizing: border-box;
        border-radius: 0.75em; font-size: 0.75em; line-height: 1.6; color: white; }
    `;
    const main = document.createElement("main");
    const heading = document.createElement("h1");
    heading.textContent = "Extensions";
    const list = document.createElement("ul");
    main.append(heading, list);
    shadow.append(style, main);
    (document.body ?? document.documentElement).append(host);
    const refresh = () => { if (document.visibilityState === "visible") hatboxStart("refresh"); };
    document.addEventListener("visibilitychange", refresh);
    setInterval(refresh, 2000);
    return {host, list, drawn: null};
  }

  function draw(button, index) {
    const item = document.createElement("li");
    const element = document.createElement("button");
    element.disabled = !button.isEnabled;
    const icon = document.createElement(button.icon ? "img" : "span");
    if (button.icon) Object.assign(icon, {src: button.icon, alt: ""});
    else Object.assign(icon, {className: "letter", textContent: [...button.title][0] ?? "", ariaHidden: "true"});
    const label = document.createElement("span");
    label.textContent = button.title;
    element.append(icon, label);
    if (button.badge) {
      const badge = document.createElement("span");
      badge.className = "badge";
      badge.textContent = button.badge;
      badge.style.background = button.badgeColor;
      element.append(badge);
    }
    element.addEventListener("click", event => { if (event.isTrusted) hatboxStart(String(index)); });
    item.append(element);
    return item;
  }
})
