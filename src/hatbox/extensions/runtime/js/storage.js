// localStorage and sessionStorage, as in Firefox. The entries of localStorage come with the boot settings. Changes are
// sent to the host in order; reads are local, so scripts do not wait.

import {
  NativeDOMException, NativeMap, NativeTypeError, NativeWeakMap, append, charCodeAt, defineValue, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn,
  mapDelete, mapForEach, mapGet, mapHas, mapSet, mapSize, ownKeys, slice, stringify, weakMapGet, weakMapSet,
} from "./primordials.js";
import {LOCAL_STORAGE} from "./protocol.js";

const NativeProxy = Proxy;
const {defineProperty, get: getProperty, has: hasProperty, set: setProperty} = Reflect;

const QUOTA = 5 << 20; // UTF-16 code units of keys and values together
const CHUNK = 1 << 20; // code units: fits into a frame however it is escaped
const MEMBERS = ["key", "getItem", "setItem", "removeItem", "clear", "length"];

const states = new NativeWeakMap(); // storage object → {items, used, changed}

class Storage {
  constructor(...args) {
    if (args[0] !== states) throw new NativeTypeError("Illegal constructor.");
  }

  key(index) {
    const {items} = stateOf(this, "key");
    demand("key", 1, arguments.length);
    const wanted = index >>> 0;
    let at = 0;
    let found = null;
    mapForEach(items, (_, key) => { if (at++ === wanted) found = key; });
    return found;
  }

  getItem(key) {
    const {items} = stateOf(this, "getItem");
    demand("getItem", 1, arguments.length);
    return mapGet(items, `${key}`) ?? null;
  }

  setItem(key, value) {
    const state = stateOf(this, "setItem");
    demand("setItem", 2, arguments.length);
    put(state, `${key}`, `${value}`);
  }

  removeItem(key) {
    const state = stateOf(this, "removeItem");
    demand("removeItem", 1, arguments.length);
    remove(state, `${key}`);
  }

  clear() {
    const state = stateOf(this, "clear");
    if (mapSize(state.items) === 0) return;
    state.items = new NativeMap();
    state.used = 0;
    state.changed(null, null);
  }

  get length() { return mapSize(stateOf(this, "length").items); }
}

for (let i = 0; i < MEMBERS.length; i++) {
  const property = getOwnPropertyDescriptor(Storage.prototype, MEMBERS[i]);
  property.enumerable = true;
  defineProperty(Storage.prototype, MEMBERS[i], property);
}
defineValue(Storage.prototype, Symbol.toStringTag, "Storage", {__proto__: null, enumerable: false, configurable: true});

function stateOf(storage, member) {
  const state = typeof storage === "object" && storage !== null ? weakMapGet(states, storage) : undefined;
  if (state === undefined) throw new NativeTypeError(`'${member}' called on an object that does not implement interface Storage.`);
  return state;
}

function demand(member, wanted, given) {
  if (given >= wanted) return;
  const s = wanted === 1 ? "" : "s";
  throw new NativeTypeError(`Storage.${member}: At least ${wanted} argument${s} required, but only ${given} passed`);
}

function put(state, key, value) {
  const old = mapGet(state.items, key);
  if (old === value) return;
  const used = state.used + value.length + (old === undefined ? key.length : -old.length);
  if (used > QUOTA && value.length > (old?.length ?? -1)) throw new NativeDOMException("The quota has been exceeded.", "QuotaExceededError");
  mapSet(state.items, key, value);
  state.used = used;
  state.changed(key, value);
}

function remove(state, key) {
  const old = mapGet(state.items, key);
  if (old === undefined) return;
  mapDelete(state.items, key);
  state.used -= key.length + old.length;
  state.changed(key, null);
}

// An object whose properties are the items, except those with inherited names.
function createStorage(items, changed) {
  const state = {__proto__: null, items, used: 0, changed};
  mapForEach(items, (value, key) => { state.used += key.length + value.length; });
  const shows = (target, name) => typeof name === "string" && mapHas(state.items, name) && !(name in getPrototypeOf(target));
  const storage = new NativeProxy(new Storage(states), {
    __proto__: null,
    get: (target, name, receiver) => (shows(target, name) ? mapGet(state.items, name) : getProperty(target, name, receiver)),
    has: (target, name) => shows(target, name) || hasProperty(target, name),
    set(target, name, value, receiver) {
      if (typeof name !== "string" || receiver !== storage || isAccessor(target, name)) return setProperty(target, name, value, receiver);
      put(state, name, `${value}`);
      return true;
    },
    deleteProperty(target, name) {
      if (!shows(target, name)) return deleteProperty(target, name);
      remove(state, name);
      return true;
    },
    ownKeys(target) {
      const keys = [];
      mapForEach(state.items, (_, key) => { if (shows(target, key)) append(keys, key); });
      const others = ownKeys(target);
      for (let i = 0; i < others.length; i++) append(keys, others[i]);
      return keys;
    },
    getOwnPropertyDescriptor(target, name) {
      if (!shows(target, name)) return getOwnPropertyDescriptor(target, name);
      return {__proto__: null, value: mapGet(state.items, name), writable: true, enumerable: true, configurable: true};
    },
    defineProperty(target, name, property) {
      if (typeof name !== "string") return defineProperty(target, name, property);
      if (hasOwn(property, "get") || hasOwn(property, "set")) throw new NativeTypeError(`can't define a getter/setter for element '${stringify(name)}' of Storage object`);
      put(state, name, `${property.value}`);
      return true;
    },
    preventExtensions: () => false,
  });
  weakMapSet(states, storage, state);
  return storage;
}

// Whether an inherited property is an accessor, such as __proto__.
function isAccessor(target, name) {
  for (let object = getPrototypeOf(target); object !== null; object = getPrototypeOf(object)) {
    const property = getOwnPropertyDescriptor(object, name);
    if (property !== undefined) return property.get !== undefined || property.set !== undefined;
  }
  return false;
}

const NativeEvent = Event;

class StorageEvent extends NativeEvent {
  #fields;

  constructor(type, fields) {
    super(type, fields);
    this.#fields = {__proto__: null, ...fields};
  }

  get key() { return this.#fields.key ?? null; }
  get oldValue() { return this.#fields.oldValue ?? null; }
  get newValue() { return this.#fields.newValue ?? null; }
  get url() { return this.#fields.url ?? ""; }
  get storageArea() { return this.#fields.storageArea ?? null; }
}

// Both storages of a page. `entries` are those of localStorage; `send(text)` sends a message to the host. `receive(key,
// value)` applies a change of another page, and fires `storage`: a value, null to remove it, or no key to clear all.
export function createStorages({entries, send, page}) {
  const items = new NativeMap();
  for (let i = 0; i < entries.length; i++) mapSet(items, entries[i][0], entries[i][1]);
  const local = createStorage(items, (key, value) => {
    sendChunks(key === null ? "[null,null]" : `[${stringify(key)},${value === null ? "null" : stringify(value)}]`, send);
  });
  const {dispatchEvent} = globalThis;
  const receive = (key, value) => {
    const state = weakMapGet(states, local);
    const oldValue = key === null ? null : mapGet(state.items, key) ?? null;
    if (key === null) {
      state.items = new NativeMap();
      state.used = 0;
    } else if (oldValue === value) {
      return;
    } else {
      state.used += (value === null ? 0 : key.length + value.length) - (oldValue === null ? 0 : key.length + oldValue.length);
      value === null ? mapDelete(state.items, key) : mapSet(state.items, key, value);
    }
    dispatchEvent(new StorageEvent("storage", {key, oldValue, newValue: value, url: page, storageArea: local}));
  };
  return {__proto__: null, Storage, StorageEvent, receive, localStorage: local, sessionStorage: createStorage(new NativeMap(), () => {})};
}

function sendChunks(text, send) {
  let start = 0;
  while (text.length - start > CHUNK) {
    let end = start + CHUNK;
    const last = charCodeAt(text, end - 1);
    if (last >= 0xd800 && last < 0xdc00) end--; // do not split a surrogate pair
    send(`["${LOCAL_STORAGE}",false,${stringify(slice(text, start, end))}]`);
    start = end;
  }
  send(`["${LOCAL_STORAGE}",true,${stringify(start === 0 ? text : slice(text, start))}]`);
}
