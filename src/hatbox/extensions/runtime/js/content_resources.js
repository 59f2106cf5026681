// Files of the extension in the page, for content scripts: Chromium loads moz-extension:// URLs as images, style sheets and
// classic scripts, but not as frames or modules, nor by XMLHttpRequest. So those get the https URL that Chromium loads instead, and content
// scripts read the moz-extension:// URL again. Fonts of a style sheet need its https URL too. Only this world is changed.
// Frames of content scripts show every page of the extension, as in Firefox: the host grants a URL for each (frame_grants.py).

import {NativeWeakMap, defineValue, includes, promiseThen, slice, uncurryThis, weakMapGet, weakMapSet} from "./primordials.js";

const {apply, defineProperty, getOwnPropertyDescriptor} = Reflect;
const {Element, MutationObserver, MessageEvent, document} = globalThis;
const {setAttribute, getAttribute, attachShadow} = Element.prototype;
const {open: openRequest} = XMLHttpRequest.prototype;
const startsWith = uncurryThis(String.prototype.startsWith);
const toLowerCase = uncurryThis(String.prototype.toLowerCase);
const observe = uncurryThis(MutationObserver.prototype.observe);
// A page can replace these members of its elements: <form><input name=querySelectorAll>.
const findInElement = uncurryThis(Element.prototype.querySelectorAll);
const findInDocument = uncurryThis(Document.prototype.querySelectorAll);
const ENDS = "/?#";
const GRANTED = "/_generated_hatbox/frames/";
const TOKEN_LENGTH = 32;
const LOADING = [["HTMLIFrameElement", "src"], ["HTMLScriptElement", "src"], ["HTMLLinkElement", "href"], ["HTMLEmbedElement", "src"], ["HTMLObjectElement", "data"]]
  .map(([name, property]) => [globalThis[name], property]);

function replaced(text, from, to) {
  if (typeof text !== "string" || !startsWith(text, from)) return text;
  const tail = slice(text, from.length);
  return tail === "" || includes(ENDS, tail[0]) ? to + tail : text;
}

// `shown` is the origin as extensions spell it, `loaded` the one that Chromium loads. `grantFrame` resolves with the URL that
// a frame loads. `hasFiles` is true if the manifest lists files for pages: only then requests to `loaded` are intercepted, and
// elements that were made of HTML are changed too. Without, nothing but frames is changed: no request may leave the machine.
export function mapResources({shown, loaded, hasFiles, grantFrame}) {
  const textOf = value => (typeof value === "string" ? value : `${value}`);
  const toLoaded = value => (hasFiles ? replaced(textOf(value), shown, loaded) : textOf(value));
  const isOwn = url => replaced(url, shown, loaded) !== url;
  const toShown = value => {
    const text = replaced(value, loaded, shown);
    const granted = shown + GRANTED;
    return typeof text === "string" && startsWith(text, granted) ? shown + slice(text, granted.length + TOKEN_LENGTH) : text;
  };
  const waiting = new NativeWeakMap(); // frame → the URL that it shows when the host has granted it
  const isFrame = element => element instanceof LOADING[0][0];
  const show = (frame, value) => {
    const url = textOf(value);
    const set = granted => { if (weakMapGet(waiting, frame) === url) { weakMapSet(waiting, frame, undefined); apply(setAttribute, frame, ["src", granted]); } };
    weakMapSet(waiting, frame, isOwn(url) ? url : undefined);
    if (!isOwn(url)) apply(setAttribute, frame, ["src", url]);
    else promiseThen(grantFrame(url), set, () => { set(toLoaded(url)); });
  };
  for (const [{prototype}, property] of LOADING) {
    const {get, set, enumerable} = getOwnPropertyDescriptor(prototype, property);
    defineProperty(prototype, property, {
      __proto__: null, enumerable, configurable: true,
      get() {
        const value = toShown(apply(get, this, []));
        return isFrame(this) ? weakMapGet(waiting, this) ?? value : value;
      },
      set(value) {
        if (isFrame(this)) show(this, value);
        else apply(set, this, [toLoaded(value)]);
      },
    });
  }
  const propertyOf = element => {
    for (const [kind, property] of LOADING) if (element instanceof kind) return property;
    return null;
  };
  const options = {__proto__: null, writable: true, enumerable: true, configurable: true};
  const isLoading = (element, name) => typeof name === "string" && propertyOf(element) === toLowerCase(name);
  defineValue(Element.prototype, "setAttribute", {
    setAttribute(name, value) {
      const loads = isLoading(this, name);
      if (loads && isFrame(this)) show(this, value);
      else return apply(setAttribute, this, [name, loads ? toLoaded(value) : value]);
    },
  }.setAttribute, options);
  defineValue(Element.prototype, "getAttribute", {
    getAttribute(name) {
      const value = apply(getAttribute, this, [name]);
      if (!isLoading(this, name)) return value;
      return (isFrame(this) ? weakMapGet(waiting, this) : undefined) ?? toShown(value);
    },
  }.getAttribute, options);

  defineValue(XMLHttpRequest.prototype, "open", {
    open(method, url, ...rest) { return apply(openRequest, this, [method, toLoaded(url), ...rest]); },
  }.open, options);

  // The origin of messages of such frames.
  const {get: origin, enumerable} = getOwnPropertyDescriptor(MessageEvent.prototype, "origin");
  defineProperty(MessageEvent.prototype, "origin", {
    __proto__: null, enumerable, configurable: true, get() { return toShown(apply(origin, this, [])); },
  });

  if (!hasFiles) return;
  // Elements that were made of HTML, by this world or by the page.
  const selector = `iframe[src^="${shown}/"],script[type=module][src^="${shown}/"],link[href^="${shown}/"]`;
  const update = element => {
    const property = propertyOf(element);
    const value = property === null ? null : apply(getAttribute, element, [property]);
    if (value !== null && toLoaded(value) !== value) apply(setAttribute, element, [property, toLoaded(value)]);
  };
  const observer = new MutationObserver(changes => {
    for (const {type, target, addedNodes} of changes) {
      if (type === "attributes") update(target);
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        update(node);
        for (const element of findInElement(node, selector)) update(element);
      }
    }
  });
  const watched = {childList: true, subtree: true, attributes: true, attributeFilter: ["src", "href"]};
  observe(observer, document, watched);
  for (const element of findInDocument(document, selector)) update(element);
  defineValue(Element.prototype, "attachShadow", {
    attachShadow(...args) {
      const root = apply(attachShadow, this, args);
      observe(observer, root, watched);
      return root;
    },
  }.attachShadow, options);
}
