// What the classes of IndexedDB have in common: hidden state, argument checks and the look of a web platform class.

import {NativeTypeError, NativeWeakMap, append, defineValue, getOwnPropertyDescriptor, mapForEach, natives, ownKeys, sort, trunc, weakMapGet, weakMapSet} from "./primordials.js";

const {Symbol: {iterator, toStringTag}, Object: {defineProperty}, arrayIterator} = natives;
const states = new NativeWeakMap(); // object → its state, which scripts cannot reach
const MAX_COUNT = 2 ** 32 - 1;

// Passed by Hatbox's code to constructors: scripts cannot construct.
export const OURS = {__proto__: null};

export function requireOurs(given) {
  if (given !== OURS) throw new NativeTypeError("Illegal constructor.");
}

export function setState(object, state) {
  weakMapSet(states, object, state);
  return object;
}

export function stateOf(object) {
  const state = typeof object === "object" && object !== null ? weakMapGet(states, object) : undefined;
  if (state === undefined) throw new NativeTypeError("The method was called on an object that does not implement its interface.");
  return state;
}

export function findState(object) {
  return typeof object === "object" && object !== null ? weakMapGet(states, object) : undefined;
}

export function requireArguments(method, args, count) {
  if (args.length >= count) return;
  throw new NativeTypeError(`${method}: At least ${count} argument${count === 1 ? "" : "s"} required, but only ${args.length} passed`);
}

// An integer argument that must be in range: [EnforceRange] of Web IDL.
export function integerOf(value, what, min, max = MAX_COUNT) {
  const number = trunc(+value);
  if (!(number >= min && number <= max)) throw new NativeTypeError(`${what}: Value is out of range.`);
  return number;
}

export function enumValue(value, what, allowed) {
  const text = `${value}`;
  for (let i = 0; i < allowed.length; i++) if (allowed[i] === text) return text;
  throw new NativeTypeError(`${what}: '${text}' is not a valid value.`);
}

// Make members enumerable, and name the class, as Web IDL does.
export function finishClass(Class) {
  const {prototype} = Class;
  const names = ownKeys(prototype);
  for (let i = 0; i < names.length; i++) {
    if (names[i] === "constructor") continue;
    defineProperty(prototype, names[i], {__proto__: null, ...getOwnPropertyDescriptor(prototype, names[i]), enumerable: true});
  }
  defineValue(prototype, toStringTag, Class.name, {__proto__: null, enumerable: false, configurable: true});
  return Class;
}

// A sorted list of names, as objectStoreNames and indexNames are.
export function nameList(map) {
  const names = [];
  mapForEach(map, (_, name) => { append(names, name); });
  sort(names, (a, b) => (a < b ? -1 : 1));
  return new DOMStringList(OURS, names);
}

export class DOMStringList {
  constructor(ours, names) {
    requireOurs(ours);
    setState(this, names);
    for (let i = 0; i < names.length; i++) defineValue(this, i, names[i], {__proto__: null, configurable: true});
  }

  get length() { return stateOf(this).length; }
  item(index) { return stateOf(this)[index >>> 0] ?? null; }
  contains(name) {
    const names = stateOf(this);
    for (let i = 0; i < names.length; i++) if (names[i] === `${name}`) return true;
    return false;
  }
}
finishClass(DOMStringList);
defineValue(DOMStringList.prototype, iterator, arrayIterator, {__proto__: null, enumerable: false, writable: true, configurable: true});
