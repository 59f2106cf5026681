// `indexedDB` and `navigator.storage`. Databases are loaded from the profile when they are first used, and a transaction is
// complete when the profile has stored it durably. Requests on one database run one after the other.

import {NativeMap, NativePromise, append, mapDelete, mapForEach, mapGet, mapHas, mapSet, promiseResolve, promiseThen} from "./primordials.js";
import {OURS, DOMStringList, finishClass, integerOf, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {IDBCursor, IDBCursorWithValue} from "./idb_cursors.js";
import {Connection, Database, IDBDatabase} from "./idb_databases.js";
import {idbError} from "./idb_errors.js";
import {IDBVersionChangeEvent, configureEvents, dispatch, simpleEvent} from "./idb_events.js";
import {IDBKeyRange} from "./idb_key_range.js";
import {compare, requireKey} from "./idb_keys.js";
import {createProfile} from "./idb_profile.js";
import {IDBOpenDBRequest, IDBRequest, createRequest, reject, resolve} from "./idb_requests.js";
import {IDBIndex, IDBObjectStore} from "./idb_stores.js";
import {IDBTransaction, Transaction, configureTransactions, deactivateFresh} from "./idb_transactions.js";

const MAX_VERSION = 2 ** 53 - 1;

class IDBFactory {
  constructor(ours, state) {
    requireOurs(ours);
    setState(this, state);
  }

  open(name, version) {
    const factory = stateOf(this);
    requireArguments("IDBFactory.open", arguments, 1);
    return factory.open(`${name}`, version === undefined ? null : integerOf(version, "IDBFactory.open", 1, MAX_VERSION));
  }

  deleteDatabase(name) {
    const factory = stateOf(this);
    requireArguments("IDBFactory.deleteDatabase", arguments, 1);
    return factory.deleteDatabase(`${name}`);
  }

  databases() { return stateOf(this).databases(); }

  cmp(first, second) {
    stateOf(this);
    requireArguments("IDBFactory.cmp", arguments, 2);
    return compare(requireKey(first), requireKey(second));
  }
}
finishClass(IDBFactory);

class StorageManager {
  constructor(ours, profile) {
    requireOurs(ours);
    setState(this, profile);
  }

  async estimate() {
    const [usage, quota] = await stateOf(this).usage();
    return {quota, usage};
  }

  // A profile never evicts data.
  async persist() { return !!stateOf(this); }
  async persisted() { return !!stateOf(this); }
}
finishClass(StorageManager);

// `request` sends a request to the host; `later` runs a job as a task; `nextTick` runs one after the current task;
// `runMicrotasks` runs the pending microtasks, or is null if that is not possible.
export function createIndexedDb({request, later, nextTick, runMicrotasks}) {
  const profile = createProfile(request);
  const settle = runMicrotasks ?? (() => {});
  const soon = runMicrotasks === null ? later : job => {
    nextTick(() => {
      settle();
      job();
    });
  };
  configureEvents(settle);
  configureTransactions({__proto__: null, later, soon}, profile);
  const classes = {
    __proto__: null, DOMStringList, IDBCursor, IDBCursorWithValue, IDBDatabase, IDBFactory, IDBIndex, IDBKeyRange, IDBObjectStore, IDBOpenDBRequest, IDBRequest,
    IDBTransaction, IDBVersionChangeEvent, StorageManager,
  };
  const indexedDB = new IDBFactory(OURS, createFactory(profile, later));
  return {__proto__: null, classes, indexedDB, storage: new StorageManager(OURS, profile)};
}

function createFactory(profile, later) {
  const known = new NativeMap(); // name → Database
  const last = new NativeMap(); // name → promise of the last open or delete request
  let listing = null; // the promise of the list of databases in the profile
  let nextId = 1;

  const inTask = job => new NativePromise((done, fail) => {
    later(() => {
      try {
        done(job());
      } catch (error) {
        fail(error);
      }
      deactivateFresh();
    });
  });

  async function list() {
    const found = await profile.list();
    for (let i = 0; i < found.length; i++) {
      if (found[i].id >= nextId) nextId = found[i].id + 1;
      if (!mapHas(known, found[i].name)) mapSet(known, found[i].name, new Database(found[i], forget));
    }
  }

  function listed() {
    if (listing === null) promiseThen(listing = list(), undefined, () => { listing = null; });
    return listing;
  }

  function forget(database) {
    if (mapGet(known, database.name) === database) mapDelete(known, database.name);
    listing = null;
  }

  // Run a job after all earlier ones of the same database.
  function enqueue(name, request, job) {
    const run = async () => {
      try {
        await listed();
        await job();
      } catch (error) {
        await inTask(() => { fail(request, error?.name === "AbortError" || error?.name === "VersionError" ? error : idbError("UnknownError")); });
      }
    };
    const before = mapGet(last, name) ?? promiseResolve();
    const after = promiseThen(before, run);
    mapSet(last, name, after);
    promiseThen(after, () => { if (mapGet(last, name) === after) mapDelete(last, name); });
  }

  function fail(request, error) {
    reject(request, error);
    request.transaction = null;
    dispatch(simpleEvent("error", true, true), [request.object]);
  }

  function open(name, version) {
    const request = createRequest(IDBOpenDBRequest, null, null, null);
    enqueue(name, request, () => openDatabase(name, version, request));
    return request.object;
  }

  async function openDatabase(name, wanted, request) {
    let database = mapGet(known, name);
    if (database === undefined) {
      database = new Database({__proto__: null, id: nextId++, revision: 0, name, version: 0, nextStore: 1, stores: []}, forget);
      mapSet(known, name, database);
    }
    const version = wanted ?? (database.version || 1);
    if (database.version > version) throw idbError("VersionError");
    const connection = new Connection(database);
    if (database.version < version) {
      try {
        await closeOthers(database, connection, request, version);
        await upgrade(database, connection, request, version);
      } finally {
        if (database.revision === 0) mapDelete(known, name);
      }
    }
    await inTask(() => {
      request.transaction = null;
      if (connection.isClosing) return fail(request, idbError("AbortError"));
      resolve(request, connection.object);
      dispatch(simpleEvent("success"), [request.object]);
    });
  }

  // Ask all other connections to close, and wait for them.
  async function closeOthers(database, connection, request, newVersion) {
    const others = [];
    for (let i = 0; i < database.connections.length; i++) if (database.connections[i] !== connection) append(others, database.connections[i]);
    for (let i = 0; i < others.length; i++) await inTask(() => { if (!others[i].isClosing) others[i].requestClose(newVersion); });
    let isBlocked = false;
    for (let i = 0; i < others.length; i++) if (!others[i].isClosed) isBlocked = true;
    const closed = new NativePromise(done => { database.closedExcept(connection, done); });
    if (isBlocked) {
      const event = new IDBVersionChangeEvent("blocked", {__proto__: null, oldVersion: database.version, newVersion});
      await inTask(() => { dispatch(event, [request.object]); });
    }
    await closed;
  }

  function upgrade(database, connection, request, version) {
    const oldVersion = database.version;
    return new NativePromise((done, failed) => {
      const transaction = new Transaction({__proto__: null, connection, mode: "versionchange", scope: null});
      transaction.request = request;
      transaction.onStarted = () => {
        database.upgrade = transaction;
        database.version = connection.version = version;
        request.transaction = transaction.object;
        resolve(request, connection.object);
        transaction.notify(request, new IDBVersionChangeEvent("upgradeneeded", {__proto__: null, oldVersion, newVersion: version}));
      };
      transaction.onFinished = type => {
        database.upgrade = null;
        if (type === "complete") return;
        connection.version = oldVersion;
        connection.isClosing = true;
      };
      transaction.onDispatched = type => { type === "complete" ? done() : failed(idbError("AbortError")); };
      transaction.start();
    });
  }

  function deleteDatabase(name) {
    const request = createRequest(IDBOpenDBRequest, null, null, null);
    enqueue(name, request, async () => {
      const database = mapGet(known, name);
      const oldVersion = database?.version ?? 0;
      if (database !== undefined) {
        await closeOthers(database, null, request, null);
        await profile.remove(database);
        mapDelete(known, name);
      }
      const event = new IDBVersionChangeEvent("success", {__proto__: null, oldVersion, newVersion: null});
      await inTask(() => {
        resolve(request, undefined);
        dispatch(event, [request.object]);
      });
    });
    return request.object;
  }

  async function databases() {
    await listed();
    const found = [];
    mapForEach(known, ({name, version, revision}) => { if (revision > 0) append(found, {name, version}); });
    return found;
  }

  return {__proto__: null, open, deleteDatabase, databases};
}
