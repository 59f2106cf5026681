// The records of one object store, sorted by key, with its indexes. Each change returns a function that undoes it. An
// index is built when it is first needed, because that decodes all values.

import {NativeMap, append, mapForEach, mapGet, mapSet, sort, splice} from "./primordials.js";
import {valueOf} from "./idb_clone.js";
import {indexKeys} from "./idb_key_path.js";
import {firstAt, positions} from "./idb_key_range.js";
import {compare} from "./idb_keys.js";

// The order of index entries: by key, then by primary key.
const compareEntries = (one, other) => compare(one.key, other.key) || compare(one.record.key, other.record.key);

export class Records {
  rows = []; // {key, number, text, blobs}: text and blobs are a clone; `number` names the row in the profile
  #nextNumber = 1;

  // Add records in any order, before the first use.
  fill(records) {
    for (let i = 0; i < records.length; i++) {
      append(this.rows, records[i]);
      if (records[i].number >= this.#nextNumber) this.#nextNumber = records[i].number + 1;
    }
    sort(this.rows, (one, other) => compare(one.key, other.key));
  }

  find(key) {
    const at = this.#position(key);
    return at < this.rows.length && compare(this.rows[at].key, key) === 0 ? this.rows[at] : null;
  }

  #position(key) {
    return firstAt(this.rows, row => compare(row.key, key), 0);
  }

  // Store a clone under a key. Returns {record, replaced}.
  put(key, clone, indexes) {
    const replaced = this.find(key);
    if (replaced !== null) this.#remove(replaced, indexes);
    const number = replaced?.number ?? this.#nextNumber++;
    const record = {__proto__: null, key, number, text: clone.text, blobs: clone.blobs};
    this.#insert(record, indexes);
    return {__proto__: null, record, replaced};
  }

  // Remove the records in a range, and return them.
  remove(range, indexes) {
    const {start, end} = positions(this.rows, range);
    const isAll = start === 0 && end === this.rows.length;
    const removed = [];
    for (let i = start; i < end; i++) append(removed, this.rows[i]);
    if (isAll) return this.#clear(indexes, removed);
    splice(this.rows, start, end - start);
    for (let i = 0; i < removed.length; i++) mapForEach(indexes, index => { index.remove(removed[i]); });
    return removed;
  }

  #clear(indexes, removed) {
    this.rows = [];
    mapForEach(indexes, index => { index.clear(); });
    return removed;
  }

  // Undo put() and remove().
  undoPut({record, replaced}, indexes) {
    this.#remove(record, indexes);
    if (replaced !== null) this.#insert(replaced, indexes);
  }

  undoRemove(removed, indexes) {
    for (let i = 0; i < removed.length; i++) this.#insert(removed[i], indexes);
  }

  #insert(record, indexes) {
    const at = this.#position(record.key);
    if (at === this.rows.length) append(this.rows, record);
    else splice(this.rows, at, 0, record);
    mapForEach(indexes, index => { index.add(record); });
  }

  #remove(record, indexes) {
    splice(this.rows, this.#position(record.key), 1);
    mapForEach(indexes, index => { index.remove(record); });
  }
}

export class Index {
  #entries = null; // {key, record}, sorted; null until it is built

  constructor(description) {
    this.description = description; // {name, keyPath, unique, multiEntry}
  }

  // The entries of the records in `rows`.
  entries(rows) {
    if (this.#entries !== null) return this.#entries;
    const entries = [];
    for (let i = 0; i < rows.length; i++) this.#each(rows[i], entry => { append(entries, entry); });
    sort(entries, compareEntries);
    return this.#entries = entries;
  }

  add(record) {
    if (this.#entries !== null) this.#each(record, entry => { splice(this.#entries, this.#position(entry), 0, entry); });
  }

  remove(record) {
    if (this.#entries !== null) this.#each(record, entry => { splice(this.#entries, this.#position(entry), 1); });
  }

  clear() {
    if (this.#entries !== null) this.#entries = [];
  }

  // Whether a value would have a key of another record. Only in a unique index.
  conflicts(rows, value, ownKey) {
    if (!this.description.unique) return false;
    const entries = this.entries(rows);
    const keys = indexKeys(value, this.description);
    for (let i = 0; i < keys.length; i++) {
      const at = firstAt(entries, entry => compare(entry.key, keys[i]), 0);
      for (let j = at; j < entries.length && compare(entries[j].key, keys[i]) === 0; j++) {
        if (ownKey === null || compare(entries[j].record.key, ownKey) !== 0) return true;
      }
    }
    return false;
  }

  // Whether two records have the same key. Only in a unique index.
  hasDuplicates(rows) {
    if (!this.description.unique) return false;
    const entries = this.entries(rows);
    for (let i = 1; i < entries.length; i++) if (compare(entries[i - 1].key, entries[i].key) === 0) return true;
    return false;
  }

  #each(record, visit) {
    const keys = indexKeys(valueOf(record), this.description);
    for (let i = 0; i < keys.length; i++) visit({__proto__: null, key: keys[i], record});
  }

  #position(entry) {
    return firstAt(this.#entries, other => compareEntries(other, entry), 0);
  }
}

// An object store: what is described in the profile, and its records once they are loaded.
export class Store {
  records = null;

  constructor({id, name, keyPath, autoIncrement, next = 1, indexes = []}) {
    this.id = id;
    this.name = name;
    this.keyPath = keyPath;
    this.autoIncrement = autoIncrement;
    this.next = next; // of the key generator
    this.indexes = new NativeMap(); // name → Index
    for (let i = 0; i < indexes.length; i++) mapSet(this.indexes, indexes[i].name, new Index(indexes[i]));
  }

  describe() {
    const indexes = [];
    mapForEach(this.indexes, index => { append(indexes, index.description); });
    const {id, name, keyPath, autoIncrement, next} = this;
    return {__proto__: null, id, name, keyPath, autoIncrement, next, indexes};
  }

  index(name) { return mapGet(this.indexes, name); }
}
