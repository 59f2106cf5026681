// Built-ins as they were before any script of the extension ran. Code in this folder uses these instead of methods of
// prototypes, which scripts can replace. For the same reason it uses no spread, array destructuring or for-of (they call
// the iterator of Array.prototype), and does not assign array elements (a setter on Object.prototype would be called).

const {bind, call} = Function.prototype;

export const uncurryThis = bind.bind(call);
export const {apply, construct, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, deleteProperty} = Reflect;
export const {create, freeze, keys: objectKeys, hasOwn} = Object;
export const {isArray} = Array;
export const {parse, stringify} = JSON;
export const {isSafeInteger, isInteger, isFinite} = Number;
export const {trunc} = Math;
export const {captureStackTrace} = Error;

const {defineProperty: define} = Object;
const AT_END = {__proto__: null, value: undefined, writable: true, enumerable: true, configurable: true};

// Define a data property without calling setters. Not writable by default.
export function defineValue(target, key, value, {writable = false, enumerable = true, configurable = false} = {__proto__: null}) {
  return define(target, key, {__proto__: null, value, writable, enumerable, configurable});
}

export function defineGetter(target, key, get, {enumerable = true, configurable = false} = {__proto__: null}) {
  return define(target, key, {__proto__: null, get, enumerable, configurable});
}

// The original push().
export function append(array, value) {
  AT_END.value = value;
  define(array, array.length, AT_END);
  AT_END.value = undefined;
}

// The original forEach() and map().
export function each(array, visit) {
  for (let i = 0; i < array.length; i++) visit(array[i]);
}

export function mapped(array, change) {
  const changed = [];
  for (let i = 0; i < array.length; i++) append(changed, change(array[i]));
  return changed;
}

export const getter = (prototype, name) => uncurryThis(getOwnPropertyDescriptor(prototype, name).get);
export const promiseThen = uncurryThis(Promise.prototype.then);
export const promiseResolve = Promise.resolve.bind(Promise);
export const NativePromise = Promise;
export const NativeError = Error;
export const NativeTypeError = TypeError;
export const NativeDOMException = DOMException;
export const NativeMap = Map;
export const NativeWeakMap = WeakMap;
export const Bytes = Uint8Array;
export const Buffer = ArrayBuffer;

export const mapGet = uncurryThis(Map.prototype.get);
export const mapSet = uncurryThis(Map.prototype.set);
export const mapHas = uncurryThis(Map.prototype.has);
export const mapDelete = uncurryThis(Map.prototype.delete);
export const mapForEach = uncurryThis(Map.prototype.forEach);
export const mapSize = uncurryThis(getOwnPropertyDescriptor(Map.prototype, "size").get);
export const setForEach = uncurryThis(Set.prototype.forEach);
export const setAdd = uncurryThis(Set.prototype.add);
export const weakMapGet = uncurryThis(WeakMap.prototype.get);
export const weakMapSet = uncurryThis(WeakMap.prototype.set);
export const join = uncurryThis(Array.prototype.join);
export const sort = uncurryThis(Array.prototype.sort);
export const splice = uncurryThis(Array.prototype.splice);
export const repeat = uncurryThis(String.prototype.repeat);
export const slice = uncurryThis(String.prototype.slice);
export const startsWith = uncurryThis(String.prototype.startsWith);
export const endsWith = uncurryThis(String.prototype.endsWith);
export const toLowerCase = uncurryThis(String.prototype.toLowerCase);
export const includes = uncurryThis(String.prototype.includes);
export const indexOf = uncurryThis(String.prototype.indexOf);
export const charCodeAt = uncurryThis(String.prototype.charCodeAt);
export const NativeRegExp = RegExp;
export const regExpExec = uncurryThis(RegExp.prototype.exec);
export const dateGetTime = uncurryThis(Date.prototype.getTime);
export const setBytes = uncurryThis(getPrototypeOf(Uint8Array.prototype).set);
export const encodeInto = uncurryThis(TextEncoder.prototype.encodeInto);
export const encodeText = uncurryThis(TextEncoder.prototype.encode);
export const decodeText = uncurryThis(TextDecoder.prototype.decode);
export const encoder = new TextEncoder();
export const decoder = new TextDecoder();

// For IndexedDB, which is compiled when a script first uses it.
const typedArray = getPrototypeOf(Uint8Array.prototype);
export const toBase64 = uncurryThis(Uint8Array.prototype.toBase64);
export const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
export const typedBuffer = getter(typedArray, "buffer");
export const typedOffset = getter(typedArray, "byteOffset");
export const typedSize = getter(typedArray, "byteLength");
export const dataBuffer = getter(DataView.prototype, "buffer");
export const dataOffset = getter(DataView.prototype, "byteOffset");
export const dataSize = getter(DataView.prototype, "byteLength");
export const bufferDetached = getter(ArrayBuffer.prototype, "detached");
export const blobBytes = uncurryThis(Blob.prototype.arrayBuffer);
export const blobSize = getter(Blob.prototype, "size");
export const blobType = getter(Blob.prototype, "type");
export const fileName = getter(File.prototype, "name");
export const fileTime = getter(File.prototype, "lastModified");
export const imageWidth = getter(ImageData.prototype, "width");
export const imageHeight = getter(ImageData.prototype, "height");
export const imageBytes = getter(ImageData.prototype, "data");
export const unboxed = {
  __proto__: null, Boolean: uncurryThis(Boolean.prototype.valueOf), Number: uncurryThis(Number.prototype.valueOf),
  String: uncurryThis(String.prototype.valueOf), BigInt: uncurryThis(BigInt.prototype.valueOf),
};
export const natives = freeze({
  __proto__: null, AbortSignal, BigInt, Blob, Date, Event, EventTarget, File, ImageData, Number, Object, RegExp, Set, Symbol, floor: Math.floor,
  addEventListener: uncurryThis(EventTarget.prototype.addEventListener), aborted: getter(AbortSignal.prototype, "aborted"), reportError,
  defaultPrevented: getter(Event.prototype, "defaultPrevented"), eventType: getter(Event.prototype, "type"), eventBubbles: getter(Event.prototype, "bubbles"),
  arrayIterator: Array.prototype[Symbol.iterator], now: performance.now.bind(performance),
  errors: {__proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError},
  views: {
    __proto__: null, DataView, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
    BigInt64Array, BigUint64Array, ...(typeof Float16Array === "function" ? {Float16Array} : null),
  },
});

// Run `job` as a microtask.
const settled = promiseResolve(undefined);
export const soon = job => { promiseThen(settled, job); };

// Split a string without iterators or Symbol.species.
export function split(text, separator) {
  const parts = [];
  let start = 0;
  for (let end; (end = indexOf(text, separator, start)) >= 0; start = end + separator.length) {
    append(parts, slice(text, start, end));
  }
  append(parts, slice(text, start));
  return parts;
}
