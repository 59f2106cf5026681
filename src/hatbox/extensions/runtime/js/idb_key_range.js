// IDBKeyRange, and ranges as the rest of Hatbox's IndexedDB uses them: {lower, upper, lowerOpen, upperOpen}; null is no bound.

import {append} from "./primordials.js";
import {OURS, findState, finishClass, requireArguments, requireOurs, setState, stateOf} from "./idb_classes.js";
import {idbError} from "./idb_errors.js";
import {compare, keyValue, requireKey} from "./idb_keys.js";

const WHOLE = {__proto__: null, isRange: true, lower: null, upper: null, lowerOpen: true, upperOpen: true};
const boundValue = key => (key === null ? undefined : keyValue(key));
const NOT_A_RANGE = "No valid key or key range specified.";

export class IDBKeyRange {
  constructor(ours, range) {
    requireOurs(ours);
    setState(this, range);
  }

  get lower() { return boundValue(stateOf(this).lower); }
  get upper() { return boundValue(stateOf(this).upper); }
  get lowerOpen() { return stateOf(this).lowerOpen; }
  get upperOpen() { return stateOf(this).upperOpen; }

  includes(key) {
    const range = stateOf(this);
    requireArguments("IDBKeyRange.includes", arguments, 1);
    return contains(range, requireKey(key));
  }

  static only(value) {
    requireArguments("IDBKeyRange.only", arguments, 1);
    return new IDBKeyRange(OURS, only(requireKey(value)));
  }

  static lowerBound(lower, open = false) {
    requireArguments("IDBKeyRange.lowerBound", arguments, 1);
    return new IDBKeyRange(OURS, {...WHOLE, lower: requireKey(lower), lowerOpen: !!open});
  }

  static upperBound(upper, open = false) {
    requireArguments("IDBKeyRange.upperBound", arguments, 1);
    return new IDBKeyRange(OURS, {...WHOLE, upper: requireKey(upper), upperOpen: !!open});
  }

  static bound(lower, upper, lowerOpen = false, upperOpen = false) {
    requireArguments("IDBKeyRange.bound", arguments, 2);
    const range = {...WHOLE, lower: requireKey(lower), upper: requireKey(upper), lowerOpen: !!lowerOpen, upperOpen: !!upperOpen};
    const order = compare(range.lower, range.upper);
    if (order > 0 || (order === 0 && (range.lowerOpen || range.upperOpen))) throw idbError("DataError");
    return new IDBKeyRange(OURS, range);
  }
}
finishClass(IDBKeyRange);

function only(key) {
  return {__proto__: null, isRange: true, lower: key, upper: key, lowerOpen: false, upperOpen: false};
}

function contains({lower, upper, lowerOpen, upperOpen}, key) {
  if (lower !== null && compare(lower, key) >= (lowerOpen ? 0 : 1)) return false;
  return upper === null || compare(key, upper) < (upperOpen ? 0 : 1);
}

// The range of an argument: a key, an IDBKeyRange, or nothing, which is all.
export function rangeOf(value) {
  if (value === undefined || value === null) return WHOLE;
  const state = findState(value);
  return state?.isRange ? state : only(requireKey(value));
}

// The same for methods to which a missing range is an error.
export function requireRange(value) {
  if (value === undefined || value === null) throw idbError("DataError", NOT_A_RANGE);
  return rangeOf(value);
}

// The first position at which `order(item)` is at least `least`; items are sorted by it.
export function firstAt(items, order, least) {
  let start = 0;
  let end = items.length;
  while (start < end) {
    const middle = (start + end) >>> 1;
    if (order(items[middle]) < least) start = middle + 1;
    else end = middle;
  }
  return start;
}

// The positions of the items in a range: {start, end}.
export function positions(items, {lower, upper, lowerOpen, upperOpen}) {
  const start = lower === null ? 0 : firstAt(items, item => compare(item.key, lower), lowerOpen ? 1 : 0);
  const end = upper === null ? items.length : firstAt(items, item => compare(item.key, upper), upperOpen ? 0 : 1);
  return {__proto__: null, start, end: end < start ? start : end};
}

export function itemsIn(items, range, max) {
  const {start, end} = positions(items, range);
  const found = [];
  for (let i = start; i < end && found.length < max; i++) append(found, items[i]);
  return found;
}
