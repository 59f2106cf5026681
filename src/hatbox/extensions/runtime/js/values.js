// Encodes values as JSON text, with marks for values that JSON cannot represent. hatbox/javascript/wire_codec.py
// describes the marks, and decodes them.

import {
  Bytes, NativeError, NativeMap, charCodeAt, construct, dateGetTime, defineValue, encodeText, encoder, getOwnPropertyDescriptor,
  NativeDOMException, NativeTypeError, getPrototypeOf, includes, indexOf, isArray, mapForEach, mapGet, mapSet, objectKeys, parse, regExpExec, setAdd, setForEach, slice,
  startsWith, stringify, uncurryThis,
} from "./primordials.js";

const MARK = "\0";
const MAX_DEPTH = 400;
const [QUOTE, COMMA, BRACKET, BACKSLASH, BRACE] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];

const BY_SLOT = [
  ["isDate", "Date"], ["isRegExp", "RegExp"], ["isMap", "Map"], ["isSet", "Set"], ["isNativeError", "Error"],
  ["isPromise", "Promise"], ["isStringObject", "String"], ["isNumberObject", "Number"], ["isBooleanObject", "Boolean"],
  ["isSymbolObject", "Symbol"], ["isBigIntObject", "BigInt"], ["isArrayBuffer", "ArrayBuffer"],
  ["isSharedArrayBuffer", "SharedArrayBuffer"], ["isDataView", "DataView"], ["isWeakMap", "WeakMap"],
  ["isWeakSet", "WeakSet"], ["isGeneratorObject", "Generator"], ["isArgumentsObject", "Arguments"],
  ["isMapIterator", "Map Iterator"], ["isSetIterator", "Set Iterator"], ["isModuleNamespaceObject", "Module"],
];

// Web platform objects, which V8 treats as plain objects and browsers do not. Identified by their prototypes.
const BY_PROTOTYPE = [
  "URL", "URLSearchParams", "Headers", "Request", "Response", "FormData", "File", "Blob", "AbortController",
  "AbortSignal", "Event", "EventTarget", "ReadableStream", "WritableStream", "TransformStream", "TextEncoder",
  "TextDecoder", "MessagePort", "MessageChannel", "CryptoKey", "DOMException", "WeakRef", "ImageData", "Performance",
  "Crypto", "SubtleCrypto", "CustomEvent", "MessageEvent", "ErrorEvent",
];

const ObjectPrototype = Object.prototype;
const NativeDate = Date;
const NativeRegExp = RegExp;
const NativeSet = Set;
const bigInt = BigInt;
const toNumber = Number;
const typedArray = getPrototypeOf(Uint8Array.prototype);
const getter = (prototype, name) => uncurryThis(getOwnPropertyDescriptor(prototype, name).get);
const regExpSource = getter(RegExp.prototype, "source");
const regExpFlags = getter(RegExp.prototype, "flags");
const typedTag = getter(typedArray, Symbol.toStringTag);
const typedBuffer = getter(typedArray, "buffer");
const typedOffset = getter(typedArray, "byteOffset");
const typedSize = getter(typedArray, "byteLength");
const imageWidth = getter(ImageData.prototype, "width");
const imageHeight = getter(ImageData.prototype, "height");
const imageBytes = getter(ImageData.prototype, "data");
const toBase64 = uncurryThis(Uint8Array.prototype.toBase64);
const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
const TYPED = {
  __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array,
};
const ERRORS = {__proto__: null, Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError};

let isProxy;
const unknownClass = () => undefined;
let platformClass = unknownClass;
const slots = [];
const prototypes = new NativeMap();

// `types` is that of node:util, which checks internal slots, or that of page_types.js. `classOf(prototype)` returns the
// name of a class of the platform; without it, those of BY_PROTOTYPE are known.
export function learnClasses(types, classOf = unknownClass) {
  isProxy = types.isProxy;
  platformClass = classOf;
  for (const [test, name] of BY_SLOT) slots.push({has: types[test], name});
  slots.push({has: types.isTypedArray, name: null});
  if (classOf === unknownClass) for (const name of BY_PROTOTYPE) nameClass(globalThis[name].prototype, name);
  nameClass(getPrototypeOf(globalThis), "Proxy"); // the class name of a window in Firefox
}

// Assign a class name to objects with a prototype. Structured cloning rejects them.
export function nameClass(prototype, name) {
  mapSet(prototypes, prototype, name);
}

// The class name of an object in a browser: "Object" for plain objects and instances of the script's classes.
export function className(object) {
  if (isProxy(object)) return "Proxy";
  let prototype = getPrototypeOf(object);
  if (prototype === ObjectPrototype || prototype === null) return "Object";
  for (let i = 0; i < slots.length; i++) {
    if (slots[i].has(object)) return slots[i].name ?? typedTag(object);
  }
  for (; prototype !== null && !isProxy(prototype); prototype = getPrototypeOf(prototype)) {
    const name = mapGet(prototypes, prototype) ?? platformClass(prototype);
    if (name !== undefined) return name;
  }
  return "Object";
}

export function regExpParts(value) {
  return {__proto__: null, source: regExpSource(value), flags: regExpFlags(value)};
}

// Checked before a string is copied, because the copy may exceed the memory.
let maxBytes = Infinity;
let maxValues = Infinity;

export function limitSizes(bytes, values) {
  maxBytes = bytes;
  maxValues = values;
}

export function quote(text) {
  if (text.length > maxBytes) throw tooLarge(text.length);
  return stringify(text);
}

// Throw if a message is too large for a frame, or has too many values.
export function refuseLarge(text) {
  if (text.length > maxValues && countValues(text) > maxValues) {
    throw new NativeError(`The value is too large: it has more than ${maxValues} parts.`);
  }
  if (text.length * 3 <= maxBytes) return; // no character takes more than three bytes
  const size = text.length > maxBytes ? text.length : encodeText(encoder, text).length;
  if (size > maxBytes) throw tooLarge(size);
}

// Count the values in JSON text, up to the maximum.
function countValues(text) {
  let values = 0;
  for (let i = 0; i < text.length && values <= maxValues; i++) {
    const code = charCodeAt(text, i);
    if (code === COMMA || code === BRACKET || code === BRACE) values++;
    else if (code === QUOTE) i = endOfString(text, i);
  }
  return values;
}

function endOfString(text, start) {
  let end = indexOf(text, '"', start + 1);
  for (;;) {
    let slashes = 0;
    while (charCodeAt(text, end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = indexOf(text, '"', end + 1);
  }
}

function tooLarge(size) {
  return new NativeError(`The value is too large: ${size} bytes, and ${maxBytes} are allowed.`);
}

// The value of an own data property; undefined for getters, which are never called.
export function dataOf(object, key) {
  return getOwnPropertyDescriptor(object, key)?.value;
}

let tooDeep = null; // the last error for a value that is nested too deeply

const mark = (kind, detail) => `{"\\u0000":["${kind}"${detail === undefined ? "" : `,${detail}`}]}`;

// Encode a value as JSON text with marks. Getters are called, as by structured cloning.
export function encode(value, depth = 0) {
  switch (typeof value) {
    case "string": return quote(value);
    case "boolean": return value ? "true" : "false";
    case "number": return encodeNumber(value);
    case "undefined": return mark("undefined");
    case "bigint": return mark("bigint", `"${value}"`);
    case "function": return mark("function");
    case "symbol": return mark("object", `"Symbol",null`);
  }
  if (value === null) return "null";
  if (depth > MAX_DEPTH) throw tooDeep = new NativeError("The value is nested too deeply, or contains itself.");
  if (isArray(value) && !isProxy(value)) return encodeArray(value, depth);
  const name = className(value);
  if (name === "Object") return encodeObject(value, depth);
  return mark("object", `${stringify(name)},${encodeClone(name, value, depth)}`);
}

export function encodeNumber(value) {
  if (value - value === 0) return value === 0 && 1 / value < 0 ? mark("number", '"-0"') : `${value}`;
  return mark("number", `"${value}"`);
}

function encodeArray(array, depth) {
  let text = "";
  for (let i = 0; i < array.length; i++) text += (i ? "," : "") + encode(array[i], depth + 1);
  return `[${text}]`;
}

function encodeObject(object, depth) {
  const keys = objectKeys(object);
  let text = "";
  for (let i = 0; i < keys.length; i++) {
    text += `${i ? "," : ""}${stringify(keyOf(keys[i]))}:${encode(object[keys[i]], depth + 1)}`;
  }
  return `{${text}}`;
}

// Escape a key: if it looks like a mark, it gets another NUL.
export function keyOf(key) {
  return startsWith(key, MARK) ? MARK + key : key;
}

// The JSON text of a message for a native application; empty for what JSON has no word for. Throws with Firefox's words.
export function jsonText(value) {
  try {
    return stringify(value) ?? "";
  } catch (error) {
    const message = `${error?.message}`;
    if (startsWith(message, "Converting circular")) throw new NativeTypeError("cyclic object value");
    if (startsWith(message, "Do not know how to serialize a BigInt")) throw new NativeTypeError("BigInt value can't be serialized in JSON");
    throw error;
  }
}

// Encode a value like JSON.stringify(); undefined is null. A value that it rejects is a mark with its kind.
export function encodeAsJson(value) {
  if (value === undefined) return "null";
  let text;
  try {
    text = stringify(value);
  } catch (error) {
    const message = `${error?.message}`;
    const kind = includes(message, "BigInt") ? "BigInt" : startsWith(message, "Converting circular") ? "Cycle" : "Error";
    return mark("object", `"${kind}",null`);
  }
  if (text === undefined) return mark("function");
  return includes(text, '"\\u0000') ? encode(parse(text)) : text;
}

const UNCLONED = /\{"\\u0000":\["(?:function|object","([^"]*)",null)/;

// Encode a message. Throws Firefox's DataCloneError for values that structured cloning rejects.
export function encodeMessage(value) {
  let text;
  try {
    text = encode(value);
  } catch (error) {
    if (error !== tooDeep) throw error;
    throw uncloneable(findUncloned(value, new NativeMap(), 0)) ?? new NativeDOMException(tooDeep.message, "DataCloneError");
  }
  const refused = includes(text, '{"\\u0000":[') ? regExpExec(UNCLONED, text) : null;
  if (refused !== null) throw uncloneable(refused[1] ?? "Function");
  return text;
}

function uncloneable(name) {
  return name === null ? null : new NativeDOMException(`${name} object could not be cloned.`, "DataCloneError");
}

// The class name of the first part that structured cloning rejects, in a value that contains itself; null without one.
function findUncloned(value, seen, depth) {
  if (typeof value === "function") return "Function";
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || mapGet(seen, value)) return null;
  mapSet(seen, value, true);
  const name = isArray(value) && !isProxy(value) ? "Array" : className(value);
  if (name !== "Array" && name !== "Object") return encodeClone(name, value, MAX_DEPTH) === "null" ? name : null;
  const keys = objectKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const found = findUncloned(value[keys[i]], seen, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function encodeClone(name, value, depth) {
  let text = "";
  switch (name) {
    case "Date": return encodeNumber(dateGetTime(value));
    case "RegExp": return `[${stringify(regExpSource(value))},${stringify(regExpFlags(value))}]`;
    case "Map":
      mapForEach(value, (item, key) => { text += `${text && ","}[${encode(key, depth + 1)},${encode(item, depth + 1)}]`; });
      return `[${text}]`;
    case "Set":
      setForEach(value, item => { text += `${text && ","}${encode(item, depth + 1)}`; });
      return `[${text}]`;
    case "Error": return `[${stringify(`${value.name}`)},${stringify(`${value.message}`)},${stringify(`${value.stack}`)}]`;
    case "ArrayBuffer": return stringify(toBase64(new Bytes(value)));
    case "ImageData": return `[${imageWidth(value)},${imageHeight(value)},${encodeClone("Uint8Array", imageBytes(value), depth)}]`;
  }
  if (name in TYPED) return stringify(toBase64(new Bytes(typedBuffer(value), typedOffset(value), typedSize(value))));
  return "null";
}

// Replace the marks in a result of JSON.parse() by their values.
export function decode(value) {
  if (value === null || typeof value !== "object") return value;
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = decode(value[i]);
    return value;
  }
  const keys = objectKeys(value);
  if (keys.length === 1 && keys[0] === MARK) return decodeMark(value[MARK]);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const item = decode(value[key]);
    if (startsWith(key, MARK)) {
      delete value[key];
      defineValue(value, slice(key, 1), item, {__proto__: null, writable: true, configurable: true});
    } else {
      value[key] = item;
    }
  }
  return value;
}

function decodeMark(marked) {
  switch (marked[0]) {
    case "number": return toNumber(marked[1]);
    case "bigint": return bigInt(marked[1]);
    case "object": return decodeClone(marked[1], marked[2]);
  }
  return undefined;
}

function decodeClone(name, clone) {
  if (clone === null) return undefined;
  if (name === "Date") return new NativeDate(decode(clone));
  if (name === "RegExp") return new NativeRegExp(clone[0], clone[1]);
  if (name === "ArrayBuffer") return typedBuffer(fromBase64(clone));
  if (name in TYPED) return construct(TYPED[name], [typedBuffer(fromBase64(clone))]);
  if (name === "Map") {
    const map = new NativeMap();
    for (let i = 0; i < clone.length; i++) mapSet(map, decode(clone[i][0]), decode(clone[i][1]));
    return map;
  }
  if (name === "Set") {
    const set = new NativeSet();
    for (let i = 0; i < clone.length; i++) setAdd(set, decode(clone[i]));
    return set;
  }
  if (name === "Error") {
    const error = new (ERRORS[clone[0]] ?? NativeError)(clone[1]);
    defineValue(error, "stack", clone[2], {__proto__: null, writable: true, enumerable: false, configurable: true});
    return error;
  }
  return undefined;
}

// Format a value for an error message, like JSON.stringify(), without calling code of the script.
export function show(value, depth = 0) {
  if (typeof value === "string") return stringify(value);
  if (typeof value === "number") return value - value === 0 ? `${value + 0}` : "null";
  if (typeof value === "boolean" || typeof value === "bigint" || value === null) return `${value}`;
  if (typeof value !== "object") return undefined;
  if (depth > MAX_DEPTH) return "{}";
  let text = "";
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) text += (i ? "," : "") + (show(dataOf(value, i), depth + 1) ?? "null");
    return `[${text}]`;
  }
  if (className(value) !== "Object") return "{}";
  const keys = objectKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const item = show(dataOf(value, keys[i]), depth + 1);
    if (item !== undefined) text += `${text && ","}${stringify(keys[i])}:${item}`;
  }
  return `{${text}}`;
}
