// Shapes the global object of a background page: removes the globals of Deno and Node, and adds those of a page.
// Runs once, before any script of the extension.

import {apply, create, defineGetter, defineValue, freeze, getOwnPropertyDescriptor, ownKeys, slice, startsWith} from "./primordials.js";
import {nameClass} from "./values.js";

// Globals that pages do not have, and globals that access the pipe (alert, prompt), the process (close), the disk (Deno's
// localStorage, caches) or the network without the host (EventSource, Deno's WebSocket: Deno's list of allowed hosts is
// fixed at the start and has no patterns, but permissions change at run time).
const REMOVED = [
  "Deno", "process", "Buffer", "global", "nodeBootstrap", "setImmediate", "clearImmediate", "Worker", "SharedArrayBuffer",
  "localStorage", "sessionStorage", "Storage", "caches", "CacheStorage", "Cache", "alert", "confirm", "prompt", "close",
  "closed", "name", "WebSocket", "WebSocketStream", "EventSource", "BroadcastChannel", "WebTransport", "Navigator",
  "NavigatorUAData", "Location", "Lock", "LockManager",
];

const DATABASE_GLOBALS = [
  "indexedDB", "DOMStringList", "IDBCursor", "IDBCursorWithValue", "IDBDatabase", "IDBFactory", "IDBIndex", "IDBKeyRange", "IDBObjectStore", "IDBOpenDBRequest",
  "IDBRequest", "IDBTransaction", "IDBVersionChangeEvent", "StorageManager",
];
const {defineProperty} = Object;

export function shapeGlobals({url, navigator, fetch, importScripts, console, storages, createDatabases, classes}) {
  for (const name of REMOVED) delete globalThis[name];
  for (const name of ownKeys(globalThis)) {
    if (typeof name === "string" && startsWith(name, "GPU")) delete globalThis[name];
  }
  const asOnAPage = {__proto__: null, writable: true, configurable: true, enumerable: true};
  for (const name of ["window", "self", "frames", "parent", "top"]) defineValue(globalThis, name, globalThis, asOnAPage);
  defineValue(globalThis, "location", locationOf(new URL(url)));
  defineValue(globalThis, "origin", slice(url, 0, url.indexOf("/", "moz-extension://".length)), asOnAPage);
  let created = null;
  const databases = () => created ??= createDatabases();
  const shown = Object.assign(platformObject("Navigator"), navigator);
  defineGetter(shown, "storage", () => databases().storage);
  defineValue(globalThis, "navigator", freeze(shown));
  defineValue(globalThis, "console", console, {...asOnAPage, enumerable: false});
  defineValue(globalThis, "fetch", fetch, asOnAPage);
  if (importScripts !== null) defineValue(globalThis, "importScripts", importScripts, asOnAPage);
  for (const name of ownKeys(classes)) defineValue(globalThis, name, classes[name], {...asOnAPage, enumerable: false});
  for (const name of DATABASE_GLOBALS) defineLazy(globalThis, name, () => (name === "indexedDB" ? databases().indexedDB : databases().classes[name]));
  if (storages !== null) {
    for (const name of ["Storage", "StorageEvent"]) defineValue(globalThis, name, storages[name], {...asOnAPage, enumerable: false});
    for (const name of ["localStorage", "sessionStorage"]) {
      defineGetter(globalThis, name, () => storages[name], {__proto__: null, configurable: true});
    }
  }
  numberTimers();
  restoreProto();
}

// Define a property whose value is created when it is first read. Scripts may replace it.
function defineLazy(target, name, createValue) {
  const property = {__proto__: null, writable: true, enumerable: false, configurable: true};
  defineProperty(target, name, {
    __proto__: null,
    get() {
      const value = createValue();
      defineValue(target, name, value, property);
      return value;
    },
    set(value) { defineValue(target, name, value, property); },
    enumerable: false,
    configurable: true,
  });
}

const evaluate = eval; // indirect eval runs in the global scope

// An instance of a web platform class without a constructor.
function platformObject(name) {
  const prototype = create(Object.prototype);
  defineValue(prototype, Symbol.toStringTag, name, {__proto__: null, enumerable: false});
  nameClass(prototype, name);
  return create(freeze(prototype));
}

function locationOf(url) {
  const location = platformObject("Location");
  for (const part of ["href", "protocol", "host", "hostname", "port", "pathname", "search", "hash"]) {
    defineValue(location, part, url[part]);
  }
  defineValue(location, "origin", `${url.protocol}//${url.host}`); // URL returns null for unknown schemes
  defineValue(location, "toString", () => url.href, {__proto__: null, enumerable: false});
  return freeze(location);
}

// Object.prototype.__proto__ exists on the web; Deno removes it.
function restoreProto() {
  const {getPrototypeOf, setPrototypeOf} = Object;
  const isObject = value => (typeof value === "object" && value !== null) || typeof value === "function";
  const {get, set} = getOwnPropertyDescriptor({
    get ["__proto__"]() { return getPrototypeOf(this); },
    set ["__proto__"](prototype) {
      if (prototype !== null && !isObject(prototype)) return;
      if (this === null || this === undefined || isObject(this)) setPrototypeOf(this, prototype);
    },
  }, "__proto__");
  Object.defineProperty(Object.prototype, "__proto__", {__proto__: null, get, set, enumerable: false, configurable: true});
}

// On pages, timer ids are numbers, and callbacks have the global object as `this`. Deno has Node's timers.
function numberTimers() {
  for (const [set, clear] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"]]) {
    const start = globalThis[set];
    const stop = globalThis[clear];
    defineValue(globalThis, set, (callback, delay, ...args) => {
      // A string is evaluated when the timer fires, and rejected then if the content security policy forbids it.
      const code = typeof callback === "function" ? null : `${callback}`;
      return +start(() => { code === null ? apply(callback, globalThis, args) : evaluate(code); }, delay);
    }, {__proto__: null, writable: true, configurable: true});
    defineValue(globalThis, clear, id => { stop(id); }, {__proto__: null, writable: true, configurable: true});
  }
}
