// Transactions of IndexedDB: their life from creation to commit or abort, and IDBTransaction. A transaction starts when
// no earlier one with a common object store writes, and commits when no request is left.

import {NativeMap, append, mapDelete, mapForEach, mapGet, mapHas, mapSet, mapSize, natives, promiseThen, stringify} from "./primordials.js";
import {OURS, finishClass, nameList, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {NOT_USABLE, idbError} from "./idb_errors.js";
import {IdbTarget, addHandlers, dispatch, dispatchNew} from "./idb_events.js";
import {createObjectStore} from "./idb_stores.js";
import {IDBRequest, createRequest, reject, resolve} from "./idb_requests.js";

const SLICE = 8; // milliseconds of requests in one task
const {now} = natives;
const KNOWN_ERRORS = {__proto__: null, QuotaExceededError: true};
const FINISHED = "IDBTransaction.objectStore: Transaction is already committing or done.";

let tasks = null; // {later, soon}: run a job as a task; run it when the current task and its microtasks have ended
let profile = null;
let fresh = []; // transactions that are active because the current task created them

export function configureTransactions(givenTasks, givenProfile) {
  tasks = givenTasks;
  profile = givenProfile;
}

export class IDBTransaction extends IdbTarget {
  constructor(ours, state) {
    requireOurs(ours);
    super();
    setState(this, state);
  }

  get objectStoreNames() { return nameList(stateOf(this).scope); }
  get mode() { return stateOf(this).mode; }
  get durability() { return stateOf(this).durability; }
  get db() { return stateOf(this).connection.object; }
  get error() { return stateOf(this).error; }

  objectStore(name) {
    const transaction = stateOf(this);
    requireArguments("IDBTransaction.objectStore", arguments, 1);
    if (transaction.isEnding) throw idbError("InvalidStateError", FINISHED);
    const store = mapGet(transaction.scope, `${name}`);
    if (store === undefined) throw idbError("NotFoundError");
    return transaction.objectStore(store);
  }

  commit() {
    const transaction = stateOf(this);
    if (!transaction.isActive) throw idbError("InvalidStateError", NOT_USABLE);
    transaction.commit();
  }

  abort() {
    const transaction = stateOf(this);
    if (transaction.isEnding) throw idbError("InvalidStateError");
    transaction.abort(null);
  }
}
finishClass(IDBTransaction);
addHandlers(IDBTransaction, ["abort", "complete", "error"]);

export class Transaction {
  object = new IDBTransaction(OURS, this);
  error = null;
  isActive = false;
  isEnding = false; // commit() or abort() was called, or nothing is left to do
  isStarted = false;
  isFinished = false;
  #queue = new NativeMap(); // position → request
  #first = 0;
  #next = 0;
  #objectStores = new NativeMap(); // Store → IDBObjectStore
  #undo = [];
  #changes = new NativeMap(); // Store → {cleared, rows}
  #description = null; // of the database before an upgrade
  #scheduled = false;
  #scope;

  // `scope` maps names to stores; an upgrade has all of them. onFinished() is called before the last event is dispatched,
  // onDispatched() after it, both with its type; onStarted() when the records are loaded.
  constructor({connection, mode, scope, durability = "default"}) {
    this.connection = connection;
    this.database = connection.database;
    this.mode = mode;
    this.#scope = scope;
    this.durability = durability;
    append(this.database.transactions, this);
    if (mode === "versionchange") this.#description = stringify(this.database.describe());
  }

  get scope() { return this.#scope ?? this.database.stores; }
  get isUpgrade() { return this.mode === "versionchange"; }

  // Be active until the current task ends, as a transaction is that a script creates.
  activate() {
    this.isActive = true;
    if (fresh.length === 0) tasks.soon(deactivateFresh);
    append(fresh, this);
  }

  objectStore(store) {
    if (!mapHas(this.#objectStores, store)) mapSet(this.#objectStores, store, createObjectStore(this, store));
    return mapGet(this.#objectStores, store);
  }

  requireActive() {
    if (!this.isActive || this.isEnding) throw idbError("TransactionInactiveError");
  }

  requireWritable() {
    if (this.mode === "readonly") throw idbError("ReadOnlyError");
  }

  // Queue a request of `source`. Returns the IDBRequest.
  place(source, run) {
    const request = createRequest(IDBRequest, source, this.object, run);
    this.enqueue(request);
    return request.object;
  }

  enqueue(request) {
    mapSet(this.#queue, this.#next++, request);
    this.#schedule();
  }

  // Queue a check that is not a request. If it throws, the transaction is aborted with the error.
  enqueueTask(run) {
    this.enqueue({__proto__: null, isTask: true, run});
  }

  // Clone a value of the script, whose getters must not use the transaction.
  cloneInactive(clone) {
    this.isActive = false;
    try {
      return clone();
    } finally {
      this.isActive = true;
    }
  }

  // ── Changes, called while a request runs ──

  put(store, key, clone) {
    const put = store.records.put(key, clone, store.indexes);
    append(this.#undo, () => { store.records.undoPut(put, store.indexes); });
    this.#changed(store, put.record.number, put.replaced?.rows ?? 0, put.record);
  }

  remove(store, range) {
    const isAll = range.lower === null && range.upper === null;
    const removed = store.records.remove(range, store.indexes);
    append(this.#undo, () => { store.records.undoRemove(removed, store.indexes); });
    if (isAll) mapSet(this.#changes, store, {__proto__: null, cleared: true, rows: new NativeMap()});
    else for (let i = 0; i < removed.length; i++) this.#changed(store, removed[i].number, removed[i].rows ?? 0, null);
  }

  setGenerator(store, next) {
    const before = store.next;
    store.next = next;
    append(this.#undo, () => { store.next = before; });
    this.#changesOf(store);
  }

  #changed(store, number, rowsBefore, after) {
    const {rows} = this.#changesOf(store);
    mapSet(rows, number, {__proto__: null, before: mapGet(rows, number)?.before ?? rowsBefore, after});
  }

  #changesOf(store) {
    if (!mapHas(this.#changes, store)) mapSet(this.#changes, store, {__proto__: null, cleared: false, rows: new NativeMap()});
    return mapGet(this.#changes, store);
  }

  // ── Life ──

  start() {
    this.isStarted = true;
    const loads = [];
    mapForEach(this.scope, store => { if (store.records === null) append(loads, store); });
    if (loads.length === 0 && !this.isUpgrade) return this.#schedule();
    const loadAll = async () => { for (let i = 0; i < loads.length; i++) await profile.load(this.database.id, loads[i]); };
    this.#scheduled = true;
    const loaded = error => { // undefined if all are loaded
      tasks.later(() => {
        this.#scheduled = false;
        if (error !== undefined) this.abort(idbError("UnknownError"));
        else this.onStarted?.();
        this.#schedule();
      });
    };
    promiseThen(loadAll(), () => { loaded(); }, loaded);
  }

  // Run requests in a new task.
  #schedule() {
    if (!this.isStarted || this.#scheduled || this.isFinished) return;
    this.#scheduled = true;
    tasks.later(() => {
      this.#scheduled = false;
      this.#runRequests();
    });
  }

  wake() { this.#schedule(); }

  #runRequests() {
    const end = now() + SLICE;
    while (!this.isFinished && this.#first < this.#next) {
      const request = mapGet(this.#queue, this.#first);
      mapDelete(this.#queue, this.#first++);
      this.#run(request);
      if (now() > end) return this.#schedule();
    }
    if (!this.isFinished && !this.isActive && this.#first === this.#next) this.#commit();
  }

  #run(request) {
    if (request.isTask) return this.#check(request);
    try {
      resolve(request, request.run(request));
    } catch (error) {
      reject(request, error);
    }
    this.notify(request);
  }

  #check(task) {
    try {
      task.run();
    } catch (error) {
      this.abort(error);
    }
  }

  // Dispatch the event of a request while the transaction is active.
  notify(request, event = null) {
    const path = request.object === this.request?.object ? [request.object] : [request.object, this.object, this.connection.object];
    this.isActive = !this.isEnding;
    const isError = request.error !== null;
    const {threw, prevented} = event !== null ? dispatch(event, path) : dispatchNew(isError ? "error" : "success", path, isError, isError);
    this.isActive = false;
    deactivateFresh();
    if (this.isFinished) return;
    if (threw) this.abort(idbError("AbortError"));
    else if (request.error !== null && !prevented) this.abort(request.error);
  }

  // Commit when the queued requests have run.
  commit() {
    this.isEnding = true;
    this.isActive = false;
    this.#schedule();
  }

  #commit() {
    this.isEnding = true;
    if (this.committing) return;
    this.committing = true;
    if (mapSize(this.#changes) === 0 && !this.isUpgrade) return this.#finish("complete");
    const description = this.isUpgrade || this.#changesDescription() ? this.database.describe() : null;
    mapForEach(this.#changes, (_, store) => { if (store.isDeleted) mapDelete(this.#changes, store); });
    promiseThen(profile.commit(this.database, this.#changes, description), () => {
      tasks.later(() => { this.#finish("complete"); });
    }, message => {
      tasks.later(() => {
        this.#rollBack();
        this.error = idbError(message in KNOWN_ERRORS ? message : "UnknownError");
        this.#finish("abort");
        if (message === "stale") this.database.discard();
      });
    });
  }

  #changesDescription() {
    let changes = false;
    mapForEach(this.#changes, (_, store) => { changes ||= store.autoIncrement; });
    return changes;
  }

  // Undo all changes. Pending requests fail.
  abort(error) {
    if (this.isFinished || this.committing) return;
    this.isEnding = this.committing = true;
    this.isActive = false;
    this.error = error;
    this.#rollBack();
    const pending = [];
    for (; this.#first < this.#next; this.#first++) {
      const request = mapGet(this.#queue, this.#first);
      if (!request.isTask) append(pending, request);
    }
    this.#queue = new NativeMap();
    this.#scheduled = true;
    tasks.later(() => {
      for (let i = 0; i < pending.length; i++) {
        reject(pending[i], idbError("AbortError"));
        dispatchNew("error", [pending[i].object, this.object, this.connection.object], true, true);
        deactivateFresh();
      }
      this.#finish("abort");
    });
  }

  #rollBack() {
    for (let i = this.#undo.length - 1; i >= 0; i--) this.#undo[i]();
    if (this.isUpgrade) this.database.restore(this.#description);
  }

  #finish(type) {
    this.isFinished = true;
    const left = [];
    const {transactions} = this.database;
    for (let i = 0; i < transactions.length; i++) if (transactions[i] !== this) append(left, transactions[i]);
    this.database.transactions = left;
    this.onFinished?.(type);
    dispatchNew(type, [this.object, this.connection.object], type === "abort");
    deactivateFresh();
    this.onDispatched?.(type);
    startTransactions(this.database);
    this.database.connectionChanged();
  }
}

// The created transactions of this task are active no longer.
export function deactivateFresh() {
  const ended = fresh;
  fresh = [];
  for (let i = 0; i < ended.length; i++) {
    ended[i].isActive = false;
    startTransactions(ended[i].database);
    ended[i].wake();
  }
}

function startTransactions({transactions}) {
  for (let i = 0; i < transactions.length; i++) {
    const transaction = transactions[i];
    if (!transaction.isStarted && !transaction.isActive && !waits(transaction, transactions, i)) transaction.start();
  }
}

function waits(transaction, transactions, position) {
  for (let i = 0; i < position; i++) {
    const earlier = transactions[i];
    if (earlier.mode === "readonly" && transaction.mode === "readonly") continue;
    let overlaps = false;
    mapForEach(earlier.scope, store => { if (mapGet(transaction.scope, store.name) === store) overlaps = true; });
    if (overlaps) return true;
  }
  return false;
}
