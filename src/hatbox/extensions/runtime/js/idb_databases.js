// Databases of IndexedDB and their connections: IDBDatabase.

import {NativeMap, append, mapDelete, mapForEach, mapGet, mapSet, natives, parse} from "./primordials.js";
import {OURS, enumValue, finishClass, nameList, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {idbError} from "./idb_errors.js";
import {IDBVersionChangeEvent, IdbTarget, addHandlers, dispatch, simpleEvent} from "./idb_events.js";
import {keyPathOf} from "./idb_key_path.js";
import {Index, Records, Store} from "./idb_records.js";
import {positionOf} from "./idb_stores.js";
import {Transaction} from "./idb_transactions.js";

const MODES = ["readonly", "readwrite"];
const DURABILITIES = ["default", "strict", "relaxed"];
const {Symbol: {iterator}} = natives;

export class Database {
  connections = [];
  transactions = []; // that are not finished, in the order of creation
  upgrade = null; // the running upgrade transaction
  #byId = new NativeMap(); // all stores, deleted ones included
  #waiting = []; // {connection, resolve}: requests that wait until all other connections are closed

  constructor({id, revision, name, version, nextStore, stores}, onDiscard) {
    this.id = id;
    this.revision = revision; // 0 if it is not in the profile
    this.name = name;
    this.version = version;
    this.nextStore = nextStore;
    this.stores = new NativeMap(); // name → Store
    this.onDiscard = onDiscard;
    for (let i = 0; i < stores.length; i++) this.addStore(new Store(stores[i]));
  }

  addStore(store) {
    mapSet(this.stores, store.name, store);
    mapSet(this.#byId, store.id, store);
  }

  setStores(stores) { this.stores = stores; }

  describe() {
    const stores = [];
    mapForEach(this.stores, store => { append(stores, store.describe()); });
    const {name, version, nextStore} = this;
    return {__proto__: null, name, version, nextStore, stores};
  }

  // Undo an upgrade. The records were restored before.
  restore(text) {
    const {version, nextStore, stores} = parse(text);
    this.version = version;
    this.nextStore = nextStore;
    mapForEach(this.stores, store => { store.isDeleted = true; });
    this.stores = new NativeMap();
    for (let i = 0; i < stores.length; i++) {
      const {id, name, next, indexes} = stores[i];
      const store = mapGet(this.#byId, id);
      store.isDeleted = false;
      store.name = name;
      store.next = next;
      store.indexes = new NativeMap();
      for (let j = 0; j < indexes.length; j++) mapSet(store.indexes, indexes[j].name, new Index(indexes[j]));
      mapSet(this.stores, name, store);
    }
  }

  // Resolves when all connections but one are closed.
  closedExcept(connection, resolve) {
    append(this.#waiting, {__proto__: null, connection, resolve});
    this.connectionChanged();
  }

  connectionChanged() {
    const open = [];
    for (let i = 0; i < this.connections.length; i++) if (!this.connections[i].isClosed) append(open, this.connections[i]);
    this.connections = open;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let i = 0; i < waiting.length; i++) {
      const others = open.length - (open.length > 0 && waiting[i].connection !== null && hasItem(open, waiting[i].connection) ? 1 : 0);
      if (others === 0) waiting[i].resolve();
      else append(this.#waiting, waiting[i]);
    }
  }

  // Another program has changed the database in the profile: close all connections, so that scripts open it again.
  discard() {
    this.onDiscard(this);
    for (let i = 0; i < this.connections.length; i++) {
      const connection = this.connections[i];
      if (connection.isClosing) continue;
      connection.isClosing = true;
      dispatch(simpleEvent("close"), [connection.object]);
    }
    this.connectionChanged();
  }
}

function hasItem(items, item) {
  for (let i = 0; i < items.length; i++) if (items[i] === item) return true;
  return false;
}

export class Connection {
  isClosing = false;
  object = new IDBDatabase(OURS, this);

  constructor(database) {
    this.database = database;
    this.version = database.version;
    append(database.connections, this);
  }

  get isClosed() {
    if (!this.isClosing) return false;
    const {transactions} = this.database;
    for (let i = 0; i < transactions.length; i++) if (transactions[i].connection === this) return false;
    return true;
  }

  close() {
    this.isClosing = true;
    this.database.connectionChanged();
  }

  requestClose(newVersion) {
    const event = new IDBVersionChangeEvent("versionchange", {__proto__: null, oldVersion: this.database.version, newVersion});
    dispatch(event, [this.object]);
  }
}

export class IDBDatabase extends IdbTarget {
  constructor(ours, connection) {
    requireOurs(ours);
    super();
    setState(this, connection);
  }

  get name() { return stateOf(this).database.name; }
  get version() { return stateOf(this).version; }
  get objectStoreNames() { return nameList(stateOf(this).database.stores); }

  close() { stateOf(this).close(); }

  transaction(names, mode, options) {
    const connection = stateOf(this);
    requireArguments("IDBDatabase.transaction", arguments, 1);
    const chosen = mode === undefined ? "readonly" : enumValue(mode, "IDBDatabase.transaction", MODES);
    const durability = options?.durability === undefined ? "default" : enumValue(options.durability, "IDBDatabase.transaction", DURABILITIES);
    const wanted = namesOf(names);
    const {database} = connection;
    if (database.upgrade !== null) throw idbError("InvalidStateError", "IDBDatabase.transaction: Can't start a transaction while running an upgrade transaction");
    if (connection.isClosing) throw idbError("InvalidStateError", "IDBDatabase.transaction: Can't start a transaction on a closed database");
    if (wanted.length === 0) throw idbError("InvalidAccessError", "IDBDatabase.transaction: Empty scope passed in");
    const scope = new NativeMap();
    for (let i = 0; i < wanted.length; i++) {
      const store = mapGet(database.stores, wanted[i]);
      if (store === undefined) throw idbError("NotFoundError", `IDBDatabase.transaction: '${wanted[i]}' is not a known object store name`);
      mapSet(scope, wanted[i], store);
    }
    const transaction = new Transaction({__proto__: null, connection, mode: chosen, scope, durability});
    transaction.activate();
    return transaction.object;
  }

  createObjectStore(name, options) {
    const database = upgrading(stateOf(this));
    requireArguments("IDBDatabase.createObjectStore", arguments, 1);
    const text = `${name}`;
    const keyPath = options?.keyPath === undefined || options.keyPath === null ? null : keyPathOf(options.keyPath);
    const autoIncrement = !!options?.autoIncrement;
    const position = positionOf(database.stores, text);
    if (position >= 0) throw idbError("ConstraintError", `IDBDatabase.createObjectStore: Object store named '${text}' already exists at index '${position}'`);
    if (autoIncrement && (keyPath === "" || typeof keyPath === "object" && keyPath !== null)) throw idbError("InvalidAccessError");
    const store = new Store({__proto__: null, id: database.nextStore++, name: text, keyPath, autoIncrement});
    store.records = new Records();
    database.addStore(store);
    return database.upgrade.objectStore(store);
  }

  deleteObjectStore(name) {
    const database = upgrading(stateOf(this));
    requireArguments("IDBDatabase.deleteObjectStore", arguments, 1);
    const store = mapGet(database.stores, `${name}`);
    if (store === undefined) throw idbError("NotFoundError");
    mapDelete(database.stores, `${name}`);
    store.isDeleted = true;
  }
}
finishClass(IDBDatabase);
addHandlers(IDBDatabase, ["abort", "close", "error", "versionchange"]);

function upgrading({database}) {
  if (database.upgrade === null) throw idbError("InvalidStateError");
  database.upgrade.requireActive();
  return database;
}

// A name, or an iterable of names, each once.
function namesOf(given) {
  const names = [];
  if (typeof given !== "object" || given === null || typeof given[iterator] !== "function") {
    append(names, `${given}`);
    return names;
  }
  for (const name of given) append(names, `${name}`);
  return names;
}
