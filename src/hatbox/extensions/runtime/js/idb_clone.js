// Structured clones as JSON text, for storage. Objects are arrays with a tag; an object that occurs again is a reference
// by its number. The contents of Blobs are apart from the text, because they are read asynchronously.

import {
  Bytes, NativeDOMException, NativeError, NativeMap, append, blobType, bufferDetached, construct, dateGetTime, defineValue, fileName, fileTime, fromBase64,
  getOwnPropertyDescriptor, hasOwn, imageBytes, imageHeight, imageWidth, isArray, isFinite, mapForEach, mapGet, mapSet, mapSize, natives, objectKeys, parse,
  setAdd, setForEach, stringify, toBase64, typedBuffer, unboxed,
} from "./primordials.js";
import {viewParts} from "./idb_keys.js";
import {className, regExpParts} from "./values.js";

const MAX_DEPTH = 1000;
const {
  BigInt: bigInt, Blob: NativeBlob, Date: NativeDate, File: NativeFile, ImageData: NativeImageData, Object: toObject, RegExp: NativeRegExp, Set: NativeSet,
  errors: ERRORS, views: VIEWS,
} = natives;
const ENTRY = {__proto__: null, writable: true, configurable: true};
const HIDDEN = {__proto__: null, writable: true, enumerable: false, configurable: true};

// Clone a value: {text, blobs}. Throws DataCloneError, or what a getter of the script throws.
export function cloneOf(value) {
  const context = {__proto__: null, seen: new NativeMap(), blobs: []};
  return {__proto__: null, text: encode(value, context, 0), blobs: context.blobs};
}

function refused(name) {
  return new NativeDOMException(name === null ? "The object could not be cloned." : `${name} object could not be cloned.`, "DataCloneError");
}

function encode(value, context, depth) {
  switch (typeof value) {
    case "string": return stringify(value);
    case "boolean": return value ? "true" : "false";
    case "number": return encodeNumber(value);
    case "undefined": return '["u"]';
    case "bigint": return `["i","${value}"]`;
    case "symbol": throw refused(null);
    case "function": throw refused("Function");
  }
  if (value === null) return "null";
  if (depth > MAX_DEPTH) throw new NativeDOMException("The object could not be cloned: it is nested too deeply.", "DataCloneError");
  const known = mapGet(context.seen, value);
  if (known !== undefined) return `["r",${known}]`;
  mapSet(context.seen, value, mapSize(context.seen));
  return encodeObject(value, isArray(value) ? className(value) === "Proxy" ? "Proxy" : "Array" : className(value), context, depth + 1);
}

function encodeNumber(value) {
  return isFinite(value) && !(value === 0 && 1 / value < 0) ? `${value}` : `["n","${value === 0 ? "-0" : value}"]`;
}

function encodeObject(value, name, context, depth) {
  switch (name) {
    case "Object": case "Arguments": return `["o"${encodeProperties(value, objectKeys(value), context, depth)}]`;
    case "Array": return encodeArray(value, context, depth);
    case "Date": return `["d",${encodeNumber(dateGetTime(value))}]`;
    case "RegExp": {
      const {source, flags} = regExpParts(value);
      return `["x",${stringify(source)},${stringify(flags)}]`;
    }
    case "Map": return encodeMap(value, context, depth);
    case "Set": return encodeSet(value, context, depth);
    case "Boolean": case "Number": case "String": case "BigInt": return `["w",${encode(unboxed[name](value), context, depth)}]`;
    case "Error": return encodeError(value, context, depth);
    case "DOMException": return `["q",${stringify(`${value.name}`)},${stringify(`${value.message}`)}]`;
    case "ArrayBuffer":
      if (bufferDetached(value)) throw refused(name);
      return `["y","${toBase64(new Bytes(value))}"]`;
    case "ImageData": return `["p",${imageWidth(value)},${imageHeight(value)},${encode(imageBytes(value), context, depth)}]`;
    case "Blob": case "File":
      append(context.blobs, {__proto__: null, content: value, base64: null, ...describeBlob(value, name)});
      return `["f",${context.blobs.length - 1}]`;
  }
  if (!(name in VIEWS)) throw refused(name);
  const {buffer, offset, size} = viewParts(value);
  const length = name === "DataView" ? size : size / VIEWS[name].BYTES_PER_ELEMENT;
  return `["v","${name}",${encode(buffer, context, depth)},${offset},${length}]`;
}

function describeBlob(blob, name) {
  if (name === "Blob") return {__proto__: null, type: blobType(blob)};
  return {__proto__: null, type: blobType(blob), name: fileName(blob), lastModified: fileTime(blob)};
}

function encodeProperties(object, keys, context, depth) {
  let text = "";
  for (let i = 0; i < keys.length; i++) {
    if (hasOwn(object, keys[i])) text += `,${stringify(keys[i])},${encode(object[keys[i]], context, depth)}`;
  }
  return text;
}

function encodeArray(array, context, depth) {
  const keys = objectKeys(array);
  const {length} = array;
  if (keys.length !== length || (length > 0 && keys[length - 1] !== `${length - 1}`)) {
    return `["s",${length}${encodeProperties(array, keys, context, depth)}]`;
  }
  let text = "";
  for (let i = 0; i < length; i++) text += `,${encode(array[i], context, depth)}`;
  return `["a"${text}]`;
}

function encodeMap(map, context, depth) {
  const entries = []; // copied first: getters may change the map
  mapForEach(map, (value, key) => {
    append(entries, key);
    append(entries, value);
  });
  return `["m"${encodeAll(entries, context, depth)}]`;
}

function encodeSet(set, context, depth) {
  const entries = [];
  setForEach(set, value => { append(entries, value); });
  return `["t"${encodeAll(entries, context, depth)}]`;
}

function encodeAll(values, context, depth) {
  let text = "";
  for (let i = 0; i < values.length; i++) text += `,${encode(values[i], context, depth)}`;
  return text;
}

function encodeError(error, context, depth) {
  const name = `${error.name}`;
  const message = getOwnPropertyDescriptor(error, "message")?.value;
  const cause = getOwnPropertyDescriptor(error, "cause");
  const fields = `${stringify(name in ERRORS ? name : "Error")},${message === undefined ? "null" : stringify(`${message}`)},${stringify(`${error.stack}`)}`;
  return `["e",${fields}${cause === undefined ? "" : `,${encode(cause.value, context, depth)}`}]`;
}

// A new value from a clone.
export function valueOf({text, blobs}) {
  return decode(parse(text), {__proto__: null, seen: [], blobs});
}

function decode(node, context) {
  if (!isArray(node)) return node;
  switch (node[0]) {
    case "u": return undefined;
    case "n": return +node[1];
    case "i": return bigInt(node[1]);
    case "r": return context.seen[node[1]];
  }
  const number = context.seen.length;
  append(context.seen, undefined); // reserves the number
  return decodeObject(node, context, object => {
    defineValue(context.seen, number, object, ENTRY);
    return object;
  });
}

// `known` records the object before its contents are decoded, which may refer to it.
function decodeObject(node, context, known) {
  switch (node[0]) {
    case "o": return addProperties(known({}), node, 1, context);
    case "a": {
      const array = known([]);
      for (let i = 1; i < node.length; i++) append(array, decode(node[i], context));
      return array;
    }
    case "s": {
      const array = known([]);
      array.length = node[1];
      return addProperties(array, node, 2, context);
    }
    case "d": return known(new NativeDate(decode(node[1], context)));
    case "x": return known(new NativeRegExp(node[1], node[2]));
    case "m": {
      const map = known(new NativeMap());
      for (let i = 1; i < node.length; i += 2) {
        const key = decode(node[i], context);
        mapSet(map, key, decode(node[i + 1], context));
      }
      return map;
    }
    case "t": {
      const set = known(new NativeSet());
      for (let i = 1; i < node.length; i++) setAdd(set, decode(node[i], context));
      return set;
    }
    case "w": return known(toObject(decode(node[1], context)));
    case "e": return decodeError(node, context, known);
    case "q": return known(new NativeDOMException(node[2], node[1]));
    case "y": return known(typedBuffer(fromBase64(node[1])));
    case "p": return known(new NativeImageData(decode(node[3], context), node[1], node[2]));
    case "f": return known(blobOf(context.blobs[node[1]]));
  }
  const buffer = decode(node[2], context);
  return known(construct(VIEWS[node[1]], [buffer, node[3], node[4]]));
}

function addProperties(object, node, start, context) {
  for (let i = start; i < node.length; i += 2) defineValue(object, node[i], decode(node[i + 1], context), ENTRY);
  return object;
}

function decodeError(node, context, known) {
  const error = known(new (ERRORS[node[1]] ?? NativeError)(node[2] ?? undefined));
  defineValue(error, "stack", node[3], HIDDEN);
  if (node.length > 4) defineValue(error, "cause", decode(node[4], context), HIDDEN);
  return error;
}

function blobOf({content, base64, type, name, lastModified}) {
  const parts = [content ?? fromBase64(base64)];
  if (name === undefined) return new NativeBlob(parts, {__proto__: null, type});
  return new NativeFile(parts, name, {__proto__: null, type, lastModified});
}
