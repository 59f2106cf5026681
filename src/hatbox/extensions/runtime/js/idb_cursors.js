// Cursors of IndexedDB. A cursor finds its position again at each step, because records may have changed.

import {OURS, finishClass, integerOf, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {cloneOf, valueOf} from "./idb_clone.js";
import {idbError} from "./idb_errors.js";
import {evaluate} from "./idb_key_path.js";
import {firstAt, positions} from "./idb_key_range.js";
import {compare, keyOf, keyValue, requireKey} from "./idb_keys.js";

const primaryOf = item => (item.record ?? item).key;
const compareItems = (item, key, primaryKey) => compare(item.key, key) || (primaryKey === null ? 0 : compare(primaryOf(item), primaryKey));

// The next item after `position` in a direction, at or beyond a target key; null at the end.
export function seek(items, range, direction, position, key, primaryKey) {
  const {start, end} = positions(items, range);
  const isUnique = direction === "nextunique" || direction === "prevunique";
  const positionKey = position !== null && !isUnique ? primaryOf(position) : null;
  if (direction === "next" || direction === "nextunique") {
    let at = start;
    if (position !== null) at = larger(at, firstAt(items, item => compareItems(item, position.key, positionKey), 1));
    if (key !== null) at = larger(at, firstAt(items, item => compareItems(item, key, primaryKey), 0));
    return at < end ? items[at] : null;
  }
  let at = end - 1;
  if (position !== null) at = smaller(at, firstAt(items, item => compareItems(item, position.key, positionKey), 0) - 1);
  if (key !== null) at = smaller(at, firstAt(items, item => compareItems(item, key, primaryKey), 1) - 1);
  if (at < start) return null;
  return isUnique ? items[larger(start, firstAt(items, item => compare(item.key, items[at].key), 0))] : items[at];
}

const larger = (one, other) => (one > other ? one : other);
const smaller = (one, other) => (one < other ? one : other);

export class IDBCursor {
  constructor(ours, cursor) {
    requireOurs(ours);
    setState(this, cursor);
  }

  get source() { return stateOf(this).source.object; }
  get direction() { return stateOf(this).direction; }
  get key() { return stateOf(this).key; }
  get primaryKey() { return stateOf(this).primaryKey; }
  get request() { return stateOf(this).request; }

  advance(count) {
    const cursor = stateOf(this);
    requireArguments("IDBCursor.advance", arguments, 1);
    const steps = integerOf(count, "IDBCursor.advance", 1);
    requirePosition(cursor);
    move(cursor, null, null, steps);
  }

  continue(key) {
    const cursor = stateOf(this);
    requirePosition(cursor);
    const target = key === undefined ? null : requireKey(key);
    if (target !== null && !isAhead(cursor, compare(target, cursor.item.key))) throw idbError("DataError");
    move(cursor, target, null, 1);
  }

  continuePrimaryKey(key, primaryKey) {
    const cursor = stateOf(this);
    requireArguments("IDBCursor.continuePrimaryKey", arguments, 2);
    cursor.source.requireUsable();
    const isPlain = cursor.direction === "next" || cursor.direction === "prev";
    if (!cursor.source.isIndex || !isPlain) throw idbError("InvalidAccessError");
    requirePosition(cursor);
    const target = requireKey(key);
    const primaryTarget = requireKey(primaryKey);
    if (!isAhead(cursor, compare(target, cursor.item.key) || compare(primaryTarget, primaryOf(cursor.item)))) throw idbError("DataError");
    move(cursor, target, primaryTarget, 1);
  }

  update(value) {
    const cursor = stateOf(this);
    requireArguments("IDBCursor.update", arguments, 1);
    requireWritable(cursor);
    const {transaction, store} = cursor.source;
    const clone = transaction.cloneInactive(() => cloneOf(value));
    const key = primaryOf(cursor.item);
    if (store.keyPath !== null) {
      const found = keyOf(evaluate(valueOf(clone), store.keyPath));
      if (found === null || compare(found, key) !== 0) throw idbError("DataError");
    }
    return transaction.place(this, () => cursor.source.write(key, clone));
  }

  delete() {
    const cursor = stateOf(this);
    requireWritable(cursor);
    const {transaction, store} = cursor.source;
    const key = primaryOf(cursor.item);
    return transaction.place(this, () => {
      transaction.remove(store, {__proto__: null, lower: key, upper: key, lowerOpen: false, upperOpen: false});
    });
  }
}
finishClass(IDBCursor);

export class IDBCursorWithValue extends IDBCursor {
  get value() {
    const cursor = stateOf(this);
    if (!cursor.hasValue) {
      cursor.value = valueOf(cursor.item.record ?? cursor.item);
      cursor.hasValue = true;
    }
    return cursor.value;
  }
}
finishClass(IDBCursorWithValue);

function requirePosition(cursor) {
  cursor.source.requireUsable();
  if (!cursor.isReady) throw idbError("InvalidStateError");
}

function requireWritable(cursor) {
  cursor.source.requireUsable();
  cursor.source.transaction.requireWritable();
  if (!cursor.isReady || !cursor.withValue) throw idbError("InvalidStateError");
}

function isAhead({direction}, order) {
  return direction === "next" || direction === "nextunique" ? order > 0 : order < 0;
}

// Open a cursor. Returns its request.
export function createCursor(source, range, direction, withValue) {
  const cursor = {
    __proto__: null, source, range, direction, withValue, item: null, key: undefined, primaryKey: undefined, value: undefined, hasValue: false, isReady: false,
    request: null,
  };
  const object = new (withValue ? IDBCursorWithValue : IDBCursor)(OURS, cursor);
  cursor.object = object;
  cursor.request = source.place(() => step(cursor, null, null, 1));
  return cursor.request;
}

function move(cursor, key, primaryKey, steps) {
  cursor.isReady = false;
  const request = stateOf(cursor.request);
  request.isDone = false;
  request.run = () => step(cursor, key, primaryKey, steps);
  cursor.source.transaction.enqueue(request);
}

function step(cursor, key, primaryKey, steps) {
  const {source, range, direction} = cursor;
  const items = source.items();
  let item = cursor.item;
  for (let i = 0; i < steps; i++) {
    item = seek(items, range, direction, item, key, primaryKey);
    if (item === null) return null;
  }
  cursor.item = item;
  cursor.key = keyValue(item.key);
  cursor.primaryKey = source.isIndex ? keyValue(primaryOf(item)) : cursor.key;
  cursor.hasValue = false;
  cursor.value = undefined;
  cursor.isReady = true;
  return cursor.object;
}
