// Keys of IndexedDB: validation, order and encoding. A key is a number, a Date, a string, bytes or an array of keys. Here
// it is {type, value}: a copy that scripts cannot change.

import {
  Buffer, Bytes, append, dataBuffer, dataOffset, dataSize, dateGetTime, fromBase64, hasOwn, isArray, isFinite, natives, setBytes, stringify, toBase64, typedBuffer,
  typedOffset, typedSize,
} from "./primordials.js";
import {idbError} from "./idb_errors.js";
import {className} from "./values.js";

const [NUMBER, DATE, STRING, BINARY, ARRAY] = [1, 2, 3, 4, 5]; // in their order
const MAX_DEPTH = 500;
const {isView} = Buffer;
const {Date: NativeDate} = natives;

const key = (type, value) => ({__proto__: null, type, value});

export const numberKey = value => key(NUMBER, value);

// Convert a value of a script. Returns null if it is not a valid key.
export function keyOf(value, depth = 0) {
  if (typeof value === "number") return value === value ? key(NUMBER, value) : null;
  if (typeof value === "string") return key(STRING, value);
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return null;
  const name = isArray(value) ? "Array" : className(value);
  if (name === "Array") return arrayKey(value, depth);
  if (name === "ArrayBuffer") return key(BINARY, copyBytes(new Bytes(value)));
  if (isView(value)) return key(BINARY, copyBytes(viewBytes(value)));
  if (name !== "Date") return null;
  const time = dateGetTime(value);
  return time === time ? key(DATE, time) : null;
}

function arrayKey(array, depth) {
  const items = [];
  const {length} = array;
  for (let i = 0; i < length; i++) {
    const item = hasOwn(array, i) ? keyOf(array[i], depth + 1) : null;
    if (item === null) return null;
    append(items, item);
  }
  return key(ARRAY, items);
}

// The keys of an array for a multiEntry index: invalid and repeated ones are left out.
export function multiEntryKeys(array) {
  const keys = [];
  for (let i = 0; i < array.length; i++) {
    const item = keyOf(array[i]);
    let isNew = item !== null;
    for (let j = 0; isNew && j < keys.length; j++) isNew = compare(keys[j], item) !== 0;
    if (isNew) append(keys, item);
  }
  return keys;
}

// Buffer, offset and size of a view.
export function viewParts(view) {
  if (className(view) === "DataView") return {__proto__: null, buffer: dataBuffer(view), offset: dataOffset(view), size: dataSize(view)};
  return {__proto__: null, buffer: typedBuffer(view), offset: typedOffset(view), size: typedSize(view)};
}

function viewBytes(view) {
  const {buffer, offset, size} = viewParts(view);
  return new Bytes(buffer, offset, size);
}

function copyBytes(bytes) {
  const copy = new Bytes(typedSize(bytes));
  setBytes(copy, bytes);
  return copy;
}

export function requireKey(value) {
  const found = keyOf(value);
  if (found === null) throw idbError("DataError");
  return found;
}

// The value that scripts receive for a key: a new one each time.
export function keyValue({type, value}) {
  if (type === DATE) return new NativeDate(value);
  if (type === BINARY) return typedBuffer(copyBytes(value));
  if (type !== ARRAY) return value;
  const items = [];
  for (let i = 0; i < value.length; i++) append(items, keyValue(value[i]));
  return items;
}

export const isNumberKey = ({type}) => type === NUMBER;

export function compare(one, other) {
  const {type, value: a} = one;
  const b = other.value;
  if (type !== other.type) return type < other.type ? -1 : 1;
  if (type < BINARY) return a < b ? -1 : a > b ? 1 : 0; // strings are compared by code units
  const shared = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < shared; i++) {
    const order = type === BINARY ? a[i] - b[i] : compare(a[i], b[i]);
    if (order !== 0) return order < 0 ? -1 : 1;
  }
  return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
}

// A key as JSON text, and back from the result of JSON.parse().
export function encodeKey({type, value}) {
  switch (type) {
    case NUMBER: return isFinite(value) ? `${value}` : `["n","${value}"]`;
    case DATE: return `["d",${value}]`;
    case STRING: return stringify(value);
    case BINARY: return `["b","${toBase64(value)}"]`;
  }
  let text = "";
  for (let i = 0; i < value.length; i++) text += `,${encodeKey(value[i])}`;
  return `["a"${text}]`;
}

export function decodeKey(encoded) {
  if (typeof encoded === "number") return key(NUMBER, encoded);
  if (typeof encoded === "string") return key(STRING, encoded);
  switch (encoded[0]) {
    case "n": return key(NUMBER, +encoded[1]);
    case "d": return key(DATE, encoded[1]);
    case "b": return key(BINARY, fromBase64(encoded[1]));
  }
  const items = [];
  for (let i = 1; i < encoded.length; i++) append(items, decodeKey(encoded[i]));
  return key(ARRAY, items);
}
