// sort() and toSorted() with a comparator, as SpiderMonkey has them: extensions depend on its order for comparators that
// are not consistent, such as (a, b) => a > b, and on which pairs are compared. Without a comparator V8's own are the same.

import {append, defineValue, getOwnPropertyDescriptor, getPrototypeOf, uncurryThis} from "./primordials.js";

const INSERTION_LIMIT = 8; // longer lists are merged from runs
const RUN = 4;
const {min} = Math;
const TypedArray = getPrototypeOf(Uint8Array);
const typedLength = uncurryThis(getOwnPropertyDescriptor(TypedArray.prototype, "length").get);
const METHOD = {__proto__: null, writable: true, configurable: true, enumerable: false};

export function replaceSort() {
  const arrays = natives(Array.prototype);
  const typed = natives(TypedArray.prototype);
  replace(Array.prototype, {
    sort(comparator) {
      if (typeof comparator !== "function") return arrays.sort(this, comparator);
      const target = Object(arrays.check(this));
      const {length} = target;
      const values = presentValues(target, length);
      sortValues(values, comparator);
      for (let i = 0; i < values.length; i++) target[i] = values[i];
      for (let i = values.length; i < length; i++) {
        if (i in target) delete target[i];
      }
      return target;
    },
    toSorted(comparator) {
      if (typeof comparator !== "function") return arrays.toSorted(this, comparator);
      const sorted = arrays.toSorted(this, () => 0); // a copy: no element is moved
      return sortList(sorted, sorted.length, comparator);
    },
  });
  replace(TypedArray.prototype, {
    sort(comparator) {
      if (typeof comparator !== "function") return typed.sort(this, comparator);
      return sortList(this, typedLength(typed.sort(this, () => 0)), comparator);
    },
    toSorted(comparator) {
      if (typeof comparator !== "function") return typed.toSorted(this, comparator);
      const sorted = typed.toSorted(this, () => 0);
      return sortList(sorted, typedLength(sorted), comparator);
    },
  });
}

// V8's own methods. `check` throws for a value that has no properties, as sort() does.
function natives(prototype) {
  const sort = uncurryThis(prototype.sort);
  const toSorted = uncurryThis(prototype.toSorted);
  const check = value => {
    if (value === undefined || value === null) sort(value);
    return value;
  };
  return {sort, toSorted, check};
}

function replace(prototype, methods) {
  defineValue(prototype, "sort", methods.sort, METHOD);
  defineValue(prototype, "toSorted", methods.toSorted, METHOD);
}

// The elements of an array-like object that exist.
function presentValues(target, length) {
  const values = [];
  for (let i = 0; i < length; i++) {
    if (i in target) append(values, target[i]);
  }
  return values;
}

// Sort a list that has no holes, in place.
function sortList(list, length, comparator) {
  const values = presentValues(list, length);
  sortValues(values, comparator);
  for (let i = 0; i < length; i++) list[i] = values[i];
  return list;
}

// Undefined elements go to the end: the comparator is not called for them.
const withUndefined = comparator => (a, b) => {
  if (a === undefined) return b === undefined ? 0 : 1;
  return b === undefined ? -1 : comparator(a, b);
};

function sortValues(values, userComparator) {
  const {length} = values;
  const comparator = hasUndefined(values) ? withUndefined(userComparator) : userComparator;
  if (length <= INSERTION_LIMIT) {
    insertionSort(values, 0, length, comparator);
    return;
  }
  for (let start = 0; start < length; start += RUN) insertionSort(values, start, min(start + RUN, length), comparator);
  let from = values;
  let to = copyOf(values);
  for (let size = RUN; size < length; size *= 2) {
    for (let start = 0; start < length; start += 2 * size) {
      merge(from, to, start, min(start + size, length), min(start + 2 * size, length), comparator);
    }
    const merged = to;
    to = from;
    from = merged;
  }
  if (from !== values) {
    for (let i = 0; i < length; i++) values[i] = from[i];
  }
}

function hasUndefined(values) {
  for (let i = 0; i < values.length; i++) {
    if (values[i] === undefined) return true;
  }
  return false;
}

function copyOf(values) {
  const copy = [];
  for (let i = 0; i < values.length; i++) append(copy, values[i]);
  return copy;
}

function insertionSort(values, start, end, comparator) {
  for (let i = start + 1; i < end; i++) {
    const value = values[i];
    let j = i - 1;
    for (; j >= start && comparator(values[j], value) > 0; j--) values[j + 1] = values[j];
    values[j + 1] = value;
  }
}

// Merge the runs from `start` to `middle` and from there to `end`. Runs that are in order are copied.
function merge(from, to, start, middle, end, comparator) {
  let left = start;
  let right = middle;
  let next = start;
  if (middle < end && comparator(from[middle - 1], from[middle]) > 0) {
    while (left < middle && right < end) {
      to[next++] = comparator(from[left], from[right]) > 0 ? from[right++] : from[left++];
    }
  }
  while (left < middle) to[next++] = from[left++];
  while (right < end) to[next++] = from[right++];
}
