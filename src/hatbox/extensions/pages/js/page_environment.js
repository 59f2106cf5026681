// Runs first in every document and popup of an extension's browser context. Maps the moz-extension:// URLs of the extension to
// the URLs that Chromium loads, wherever Chromium does not load them itself, and removes what would reach the network without
// the host: WebRTC, and shared workers, whose requests Playwright does not intercept.
({extensionOrigin, origin}) => {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (/^(webkit)?RTC|^WebTransport|^WebSocketStream$|^SharedWorker$/.test(name)) delete globalThis[name];
  }
  const {apply, construct, defineProperty, getOwnPropertyDescriptor} = Reflect;

  // Chromium sends an event for each console message and uncaught error. More than these would delay other pages.
  const MAX_MESSAGES = 500; // in a second
  const now = performance.now.bind(performance);
  let since = -Infinity;
  let messages = 0;
  function isFlood() {
    if (now() - since > 1000) {
      since = now();
      messages = 0;
    }
    return ++messages > MAX_MESSAGES;
  }
  for (const name of Object.keys(console)) {
    const native = console[name];
    if (typeof native === "function") console[name] = {[name]: (...args) => { if (!isFlood()) apply(native, console, args); }}[name];
  }
  for (const type of ["error", "unhandledrejection"]) {
    addEventListener(type, event => { if (isFlood()) event.preventDefault(); }, {capture: true});
  }

  if (globalThis.origin !== origin) return;
  const {indexOf, slice, toLowerCase} = String.prototype;
  const ENDS = ["", "/", "?", "#"];
  const NativeProxy = Proxy;

  function mapped(value) {
    const url = typeof value === "string" ? value : `${value}`;
    const tail = apply(slice, url, [extensionOrigin.length]);
    return apply(indexOf, url, [extensionOrigin]) === 0 && ENDS.includes(tail[0] ?? "") ? origin + tail : url;
  }
  const isOwn = url => mapped(url) !== url;

  // A URL in the first argument: not a Request, whose URL is mapped already.
  const isUrl = value => typeof value === "string" || value instanceof URL;
  function mapFirst(object, name) {
    const native = object[name];
    if (native === undefined) return;
    const map = args => (args.length > 0 && isUrl(args[0]) && isOwn(args[0]) ? [mapped(args[0]), ...args.slice(1)] : args);
    const value = new NativeProxy(native, {
      __proto__: null,
      apply: (target, self, args) => apply(target, self, map(args)),
      construct: (target, args, newTarget) => construct(target, map(args), newTarget),
    });
    defineProperty(object, name, {__proto__: null, value, writable: true, configurable: true, enumerable: getOwnPropertyDescriptor(object, name).enumerable});
  }
  for (const name of ["fetch", "Request", "Worker", "EventSource", "open"]) mapFirst(globalThis, name);

  const {open} = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = new NativeProxy(open, {
    __proto__: null,
    apply: (target, self, args) => apply(target, self, args.length > 1 && isUrl(args[1]) ? [args[0], mapped(args[1]), ...args.slice(2)] : args),
  });

  // Properties and attributes of elements whose loads need an https URL: modules, frames, plugins.
  const ELEMENTS = [["HTMLScriptElement", "src"], ["HTMLIFrameElement", "src"], ["HTMLEmbedElement", "src"], ["HTMLObjectElement", "data"], ["HTMLLinkElement", "href"]];
  for (const [name, property] of ELEMENTS) {
    const {prototype} = globalThis[name];
    const {get, set, enumerable} = getOwnPropertyDescriptor(prototype, property);
    defineProperty(prototype, property, {__proto__: null, get, set(value) { apply(set, this, [mapped(value)]); }, enumerable, configurable: true});
  }
  const loads = element => ELEMENTS.find(([name]) => element instanceof globalThis[name])?.[1];
  const {setAttribute, getAttribute} = Element.prototype;
  Element.prototype.setAttribute = new NativeProxy(setAttribute, {
    __proto__: null,
    apply(target, self, args) {
      const isMapped = args.length > 1 && typeof args[0] === "string" && loads(self) === apply(toLowerCase, args[0], []);
      return apply(target, self, isMapped ? [args[0], mapped(args[1])] : args);
    },
  });

  // Frames that the HTML parser inserts, for example by innerHTML.
  new MutationObserver(changes => {
    for (const {addedNodes} of changes) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        const frames = node instanceof HTMLIFrameElement ? [node] : node.querySelectorAll("iframe[src^='moz-extension:']");
        for (const frame of frames) {
          const src = apply(getAttribute, frame, ["src"]);
          if (src !== null && isOwn(src)) apply(setAttribute, frame, ["src", mapped(src)]);
        }
      }
    }
  }).observe(document, {childList: true, subtree: true});

  // A window that no script has opened closes only by the host, which observes this event in an isolated world.
  if (window === top) {
    const NativeEvent = Event;
    const {dispatchEvent} = EventTarget.prototype;
    const close = () => { apply(dispatchEvent, window, [new NativeEvent("hatbox-close")]); };
    defineProperty(window, "close", {__proto__: null, value: close, writable: true, configurable: true, enumerable: true});
  }

  // Navigations by location, forms and links.
  globalThis.navigation?.addEventListener("navigate", event => {
    const {url} = event.destination;
    if (!isOwn(url) || !event.cancelable) return;
    event.preventDefault();
    event.navigationType === "replace" ? location.replace(mapped(url)) : location.assign(mapped(url));
  });
  for (const type of ["click", "auxclick"]) {
    addEventListener(type, event => {
      const link = event.composedPath().find(node => node instanceof HTMLAnchorElement);
      const href = link?.getAttribute("href") ?? "";
      if (isOwn(href)) apply(setAttribute, link, ["href", mapped(href)]);
    }, {capture: true});
  }
}
