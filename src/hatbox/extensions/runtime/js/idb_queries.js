// Queries on an object store or an index: the methods that IDBObjectStore and IDBIndex share. A source has items(), which
// are sorted: records of a store, or entries of an index.

import {append, isArray} from "./primordials.js";
import {enumValue, findState, integerOf} from "./idb_classes.js";
import {valueOf} from "./idb_clone.js";
import {createCursor, seek} from "./idb_cursors.js";
import {itemsIn, positions, rangeOf, requireRange} from "./idb_key_range.js";
import {keyOf, keyValue} from "./idb_keys.js";
import {className} from "./values.js";

const DIRECTIONS = ["next", "nextunique", "prev", "prevunique"];

const recordIn = item => item.record ?? item;

const KEYS = {
  __proto__: null,
  value: item => valueOf(recordIn(item)),
  key: item => keyValue(item.key),
  primaryKey: item => keyValue(recordIn(item).key),
  record: item => new IDBRecord(item),
};

// The result of getAllRecords().
class IDBRecord {
  #item;
  #cache = {__proto__: null};
  constructor(item) { this.#item = item; }
  get key() { return this.#cache.key ??= KEYS.key(this.#item); }
  get primaryKey() { return this.#cache.primaryKey ??= KEYS.primaryKey(this.#item); }
  get value() { return "value" in this.#cache ? this.#cache.value : (this.#cache.value = KEYS.value(this.#item)); }
}

// The first item in a range, shown as `what`.
export function getOne(source, query, what) {
  source.requireUsable();
  const range = requireRange(query);
  return source.place(() => {
    const items = itemsIn(source.items(), range, 1);
    return items.length === 0 ? undefined : KEYS[what](items[0]);
  });
}

export function getMany(source, name, query, count, what) {
  source.requireUsable();
  const options = isOptions(query) ? query : {__proto__: null, query, count};
  const max = options.count === undefined ? 0 : integerOf(options.count, name, 0);
  const direction = options.direction === undefined ? "next" : enumValue(options.direction, name, DIRECTIONS);
  const range = rangeOf(options.query);
  return source.place(() => {
    const found = [];
    const items = inDirection(source.items(), range, direction, max || Infinity);
    for (let i = 0; i < items.length; i++) append(found, KEYS[what](items[i]));
    return found;
  });
}

function isOptions(value) {
  if (typeof value !== "object" || value === null || isArray(value) || findState(value)?.isRange) return false;
  return className(value) === "Object" && keyOf(value) === null;
}

function inDirection(items, range, direction, max) {
  if (direction === "next") return itemsIn(items, range, max);
  const found = [];
  for (let at = null; found.length < max;) {
    at = seek(items, range, direction, at, null, null);
    if (at === null) return found;
    append(found, at);
  }
  return found;
}

export function countItems(source, query) {
  source.requireUsable();
  const range = rangeOf(query);
  return source.place(() => {
    const {start, end} = positions(source.items(), range);
    return end - start;
  });
}

export function openCursor(source, name, query, direction, withValue) {
  source.requireUsable();
  const chosen = direction === undefined ? "next" : enumValue(direction, name, DIRECTIONS);
  return createCursor(source, rangeOf(query), chosen, withValue);
}
