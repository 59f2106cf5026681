// Checks of internal slots, in a document. Deno has them in node:util; here the methods of each class decide.
// Proxies cannot be recognized: a script that passes one to the API gets a copy of what it shows.

import {NativePromise, dateGetTime, getOwnPropertyDescriptor, getPrototypeOf, mapSize, uncurryThis} from "./primordials.js";

const getter = (prototype, name) => uncurryThis(getOwnPropertyDescriptor(prototype, name).get);

// Whether a method of a class accepts the object: it throws without the internal slot.
const accepts = method => object => {
  try {
    method(object);
    return true;
  } catch {
    return false;
  }
};

const inherits = prototype => object => {
  for (let each = getPrototypeOf(object); each !== null; each = getPrototypeOf(each)) if (each === prototype) return true;
  return false;
};

const typedArray = getPrototypeOf(Uint8Array.prototype);
const typedTag = getter(typedArray, Symbol.toStringTag);
const hasIndices = getter(RegExp.prototype, "hasIndices");
const {isError} = Error;
const isRegExp = accepts(hasIndices);
const weakMapHas = uncurryThis(WeakMap.prototype.has);
const weakSetHas = uncurryThis(WeakSet.prototype.has);

export const types = {
  __proto__: null,
  isProxy: () => false,
  isDate: accepts(dateGetTime),
  isRegExp: object => object !== RegExp.prototype && isRegExp(object),
  isMap: accepts(mapSize),
  isSet: accepts(getter(Set.prototype, "size")),
  isNativeError: typeof isError === "function" ? object => isError(object) : inherits(Error.prototype),
  isPromise: inherits(NativePromise.prototype),
  isStringObject: accepts(uncurryThis(String.prototype.valueOf)),
  isNumberObject: accepts(uncurryThis(Number.prototype.valueOf)),
  isBooleanObject: accepts(uncurryThis(Boolean.prototype.valueOf)),
  isSymbolObject: accepts(uncurryThis(Symbol.prototype.valueOf)),
  isBigIntObject: accepts(uncurryThis(BigInt.prototype.valueOf)),
  isArrayBuffer: accepts(getter(ArrayBuffer.prototype, "byteLength")),
  isSharedArrayBuffer: () => false, // only in documents that are cross-origin isolated
  isDataView: accepts(getter(DataView.prototype, "byteLength")),
  isWeakMap: accepts(object => weakMapHas(object, object)),
  isWeakSet: accepts(object => weakSetHas(object, object)),
  isGeneratorObject: inherits(getPrototypeOf(function* () {}).prototype),
  isArgumentsObject: () => false,
  isMapIterator: inherits(getPrototypeOf(new Map().keys())),
  isSetIterator: inherits(getPrototypeOf(new Set().keys())),
  isModuleNamespaceObject: () => false,
  isTypedArray: object => typedTag(object) !== undefined,
};

// Classes of JavaScript, whose objects have internal slots. Others that inherit from them are plain objects.
const BUILT_IN = {
  __proto__: null, Date: 1, RegExp: 1, Map: 1, Set: 1, Error: 1, Promise: 1, Symbol: 1, BigInt: 1, ArrayBuffer: 1, SharedArrayBuffer: 1,
  DataView: 1, WeakMap: 1, WeakSet: 1, Generator: 1,
};

// The class name of a prototype of the web platform, which is in a read-only property; undefined for other prototypes.
export function platformClass(prototype) {
  const tag = getOwnPropertyDescriptor(prototype, Symbol.toStringTag);
  return tag !== undefined && tag.writable === false && typeof tag.value === "string" && !(tag.value in BUILT_IN) ? tag.value : undefined;
}
