// IDBObjectStore and IDBIndex.

import {NativeMap, isArray, mapDelete, mapForEach, mapGet, mapHas, mapSet, mapped, natives} from "./primordials.js";
import {OURS, finishClass, nameList, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {cloneOf, valueOf} from "./idb_clone.js";
import {idbError} from "./idb_errors.js";
import {canInject, evaluate, inject, keyPathOf} from "./idb_key_path.js";
import {rangeOf, requireRange} from "./idb_key_range.js";
import {isNumberKey, keyOf, keyValue, numberKey, requireKey} from "./idb_keys.js";
import {countItems, getMany, getOne, openCursor} from "./idb_queries.js";
import {Index} from "./idb_records.js";

const MAX_GENERATED = 2 ** 53;
const {floor} = natives;
const copyPath = keyPath => (isArray(keyPath) ? mapped(keyPath, name => name) : keyPath);

// What IDBObjectStore and IDBIndex are to Hatbox: the source of requests and cursors.
class Source {
  object = null;
  isDeleted = false;

  constructor(transaction, store) {
    this.transaction = transaction;
    this.store = store;
    this.keyPath = undefined; // the same array for scripts each time
  }

  requireUsable() {
    if (this.isGone) throw idbError("InvalidStateError");
    this.transaction.requireActive();
  }

  place(run) { return this.transaction.place(this.object, run); }

  // Store a clone under a key, if no unique index has the keys of another record. Returns the key for scripts.
  write(key, clone) {
    const {store, transaction} = this;
    let value;
    let isDecoded = false;
    mapForEach(store.indexes, index => {
      if (!index.description.unique) return;
      if (!isDecoded) value = valueOf(clone);
      isDecoded = true;
      if (index.conflicts(store.records.rows, value, key)) throw idbError("ConstraintError");
    });
    transaction.put(store, key, clone);
    return keyValue(key);
  }
}

class StoreSource extends Source {
  indexes = new NativeMap(); // Index → IndexSource

  get isIndex() { return false; }
  get isGone() { return this.store.isDeleted === true; }
  items() { return this.store.records.rows; }

  indexSource(index) {
    if (!mapHas(this.indexes, index)) {
      const source = new IndexSource(this, index);
      source.object = new IDBIndex(OURS, source);
      mapSet(this.indexes, index, source);
    }
    return mapGet(this.indexes, index);
  }
}

class IndexSource extends Source {
  constructor(parent, index) {
    super(parent.transaction, parent.store);
    this.parent = parent;
    this.index = index;
  }

  get isIndex() { return true; }
  get isGone() { return this.parent.isGone || this.store.index(this.index.description.name) !== this.index; }
  items() { return this.index.entries(this.store.records.rows); }
}

export function createObjectStore(transaction, store) {
  const source = new StoreSource(transaction, store);
  return source.object = new IDBObjectStore(OURS, source);
}

export class IDBObjectStore {
  constructor(ours, source) {
    requireOurs(ours);
    setState(this, source);
  }

  get name() { return stateOf(this).store.name; }
  set name(value) { renameStore(stateOf(this), `${value}`); }
  get keyPath() {
    const source = stateOf(this);
    return source.keyPath ??= copyPath(source.store.keyPath);
  }
  get indexNames() { return nameList(stateOf(this).store.indexes); }
  get transaction() { return stateOf(this).transaction.object; }
  get autoIncrement() { return stateOf(this).store.autoIncrement; }

  put(value, key) { return store(stateOf(this), "put", arguments, value, key, true); }
  add(value, key) { return store(stateOf(this), "add", arguments, value, key, false); }

  delete(query) {
    const source = writable(stateOf(this));
    requireArguments("IDBObjectStore.delete", arguments, 1);
    const range = requireRange(query);
    return source.place(() => { source.transaction.remove(source.store, range); });
  }

  clear() {
    const source = writable(stateOf(this));
    return source.place(() => { source.transaction.remove(source.store, rangeOf(null)); });
  }

  get(query) { return getOne(given(this, "IDBObjectStore.get", arguments), query, "value"); }
  getKey(query) { return getOne(given(this, "IDBObjectStore.getKey", arguments), query, "key"); }
  getAll(query, count) { return getMany(stateOf(this), "IDBObjectStore.getAll", query, count, "value"); }
  getAllKeys(query, count) { return getMany(stateOf(this), "IDBObjectStore.getAllKeys", query, count, "key"); }
  getAllRecords(options) { return getMany(stateOf(this), "IDBObjectStore.getAllRecords", options ?? {}, undefined, "record"); }
  mozGetAll(query, count) { return getMany(stateOf(this), "IDBObjectStore.mozGetAll", query, count, "value"); }
  count(query) { return countItems(stateOf(this), query); }
  openCursor(query, direction) { return openCursor(stateOf(this), "IDBObjectStore.openCursor", query, direction, true); }
  openKeyCursor(query, direction) { return openCursor(stateOf(this), "IDBObjectStore.openKeyCursor", query, direction, false); }

  index(name) {
    const source = stateOf(this);
    requireArguments("IDBObjectStore.index", arguments, 1);
    if (source.transaction.isFinished || source.isGone) throw idbError("InvalidStateError");
    const index = source.store.index(`${name}`);
    if (index === undefined) throw idbError("NotFoundError");
    return source.indexSource(index).object;
  }

  createIndex(name, keyPath, options) {
    const source = upgrading(stateOf(this));
    requireArguments("IDBObjectStore.createIndex", arguments, 2);
    const {indexes} = source.store;
    const text = `${name}`;
    const position = positionOf(indexes, text);
    if (position >= 0) throw idbError("ConstraintError", `IDBObjectStore.createIndex: Index named '${text}' already exists at index '${position}'`);
    const path = keyPathOf(keyPath);
    const description = {__proto__: null, name: text, keyPath: path, unique: !!options?.unique, multiEntry: !!options?.multiEntry};
    if (description.multiEntry && typeof path === "object") throw idbError("InvalidAccessError");
    const index = new Index(description);
    mapSet(indexes, text, index);
    source.transaction.enqueueTask(() => { if (index.hasDuplicates(source.store.records.rows)) throw idbError("ConstraintError"); });
    return source.indexSource(index).object;
  }

  deleteIndex(name) {
    const source = upgrading(stateOf(this));
    requireArguments("IDBObjectStore.deleteIndex", arguments, 1);
    if (!mapHas(source.store.indexes, `${name}`)) throw idbError("NotFoundError");
    mapDelete(source.store.indexes, `${name}`);
  }
}
finishClass(IDBObjectStore);

export class IDBIndex {
  constructor(ours, source) {
    requireOurs(ours);
    setState(this, source);
  }

  get name() { return stateOf(this).index.description.name; }
  set name(value) { renameIndex(stateOf(this), `${value}`); }
  get objectStore() { return stateOf(this).parent.object; }
  get keyPath() {
    const source = stateOf(this);
    return source.keyPath ??= copyPath(source.index.description.keyPath);
  }
  get multiEntry() { return stateOf(this).index.description.multiEntry; }
  get unique() { return stateOf(this).index.description.unique; }

  get(query) { return getOne(given(this, "IDBIndex.get", arguments), query, "value"); }
  getKey(query) { return getOne(given(this, "IDBIndex.getKey", arguments), query, "primaryKey"); }
  getAll(query, count) { return getMany(stateOf(this), "IDBIndex.getAll", query, count, "value"); }
  getAllKeys(query, count) { return getMany(stateOf(this), "IDBIndex.getAllKeys", query, count, "primaryKey"); }
  getAllRecords(options) { return getMany(stateOf(this), "IDBIndex.getAllRecords", options ?? {}, undefined, "record"); }
  mozGetAll(query, count) { return getMany(stateOf(this), "IDBIndex.mozGetAll", query, count, "value"); }
  mozGetAllKeys(query, count) { return getMany(stateOf(this), "IDBIndex.mozGetAllKeys", query, count, "primaryKey"); }
  count(query) { return countItems(stateOf(this), query); }
  openCursor(query, direction) { return openCursor(stateOf(this), "IDBIndex.openCursor", query, direction, true); }
  openKeyCursor(query, direction) { return openCursor(stateOf(this), "IDBIndex.openKeyCursor", query, direction, false); }
}
finishClass(IDBIndex);

function given(object, method, args) {
  const source = stateOf(object);
  requireArguments(method, args, 1);
  return source;
}

function writable(source) {
  source.requireUsable();
  source.transaction.requireWritable();
  return source;
}

function upgrading(source) {
  if (!source.transaction.isUpgrade || source.isGone) throw idbError("InvalidStateError");
  source.transaction.requireActive();
  return source;
}

// put() and add().
function store(source, method, args, value, key, overwrites) {
  requireArguments(`IDBObjectStore.${method}`, args, 1);
  writable(source);
  const {keyPath, autoIncrement} = source.store;
  if (keyPath !== null && key !== undefined) throw idbError("DataError");
  if (keyPath === null && key === undefined && !autoIncrement) throw idbError("DataError");
  let chosen = key === undefined ? null : requireKey(key);
  const clone = source.transaction.cloneInactive(() => cloneOf(value));
  if (keyPath !== null) chosen = inlineKey(clone, source.store);
  return source.place(() => {
    const generated = chosen === null;
    const final = generated ? generate(source) : chosen;
    if (!generated && autoIncrement && isNumberKey(final)) raiseGenerator(source, final.value);
    if (!overwrites && source.store.records.find(final) !== null) throw idbError("ConstraintError");
    return source.write(final, generated && keyPath !== null ? withKey(clone, keyPath, final) : clone);
  });
}

// The key in a value; null if it will be generated.
function inlineKey(clone, {keyPath, autoIncrement}) {
  const value = valueOf(clone);
  const found = evaluate(value, keyPath);
  if (found === undefined && autoIncrement && canInject(value, keyPath)) return null;
  const key = found === undefined ? null : keyOf(found);
  if (key === null) throw idbError("DataError");
  return key;
}

function withKey(clone, keyPath, key) {
  const value = valueOf(clone);
  inject(value, keyPath, keyValue(key));
  return cloneOf(value);
}

function generate({store: {next}, store: target, transaction}) {
  if (next > MAX_GENERATED) throw idbError("ConstraintError");
  transaction.setGenerator(target, next === MAX_GENERATED ? next + 2 : next + 1);
  return numberKey(next);
}

function raiseGenerator({store: target, transaction}, number) {
  if (number < target.next) return;
  transaction.setGenerator(target, number >= MAX_GENERATED ? MAX_GENERATED + 2 : floor(number) + 1);
}

export function positionOf(map, name) {
  let position = -1;
  let at = 0;
  mapForEach(map, (_, each) => {
    if (each === name) position = at;
    at++;
  });
  return position;
}

// A map with one key replaced, in the same order.
function renamed(map, from, to) {
  const result = new NativeMap();
  mapForEach(map, (value, name) => { mapSet(result, name === from ? to : name, value); });
  return result;
}

function renameStore(source, name) {
  upgrading(source);
  const {store: target, transaction: {database}} = source;
  if (name === target.name) return;
  if (mapHas(database.stores, name)) throw idbError("ConstraintError");
  database.setStores(renamed(database.stores, target.name, name));
  target.name = name;
}

function renameIndex(source, name) {
  upgrading(source);
  const {store: target, index} = source;
  const before = index.description.name;
  if (name === before) return;
  if (mapHas(target.indexes, name)) throw idbError("ConstraintError");
  target.indexes = renamed(target.indexes, before, name);
  index.description = {...index.description, name};
}
