// Structured clones as JSON text, for storage. A value that JSON cannot represent is a mark: an object with the key NUL
// and an array, which starts with a tag. Most values have no marks, and are decoded by JSON.parse() alone. An object that
// occurs again is a reference by its number. The contents of Blobs are apart from the text: they are read asynchronously.

import {
  Bytes, NativeDOMException, NativeError, NativeMap, append, blobType, bufferDetached, construct, dateGetTime, defineValue, fileName, fileTime, fromBase64,
  getOwnPropertyDescriptor, hasOwn, imageBytes, imageHeight, imageWidth, includes, isArray, isFinite, mapForEach, mapGet, mapSet, mapSize, natives, objectKeys, parse,
  setAdd, setForEach, slice, startsWith, stringify, toBase64, typedBuffer, unboxed,
} from "./primordials.js";
import {viewParts} from "./idb_keys.js";
import {className, keyOf, regExpParts} from "./values.js";

const MAX_DEPTH = 1000;
const MARK = "\0";
const MARKED = '"\\u0000'; // a mark, or a text that starts with NUL
const mark = fields => `{"\\u0000":[${fields}]}`;
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
    case "undefined": return mark('"u"');
    case "bigint": return mark(`"i","${value}"`);
    case "symbol": throw refused(null);
    case "function": throw refused("Function");
  }
  if (value === null) return "null";
  if (depth > MAX_DEPTH) throw new NativeDOMException("The object could not be cloned: it is nested too deeply.", "DataCloneError");
  const known = mapGet(context.seen, value);
  if (known !== undefined) return mark(`"r",${known}`);
  mapSet(context.seen, value, mapSize(context.seen));
  return encodeObject(value, isArray(value) ? className(value) === "Proxy" ? "Proxy" : "Array" : className(value), context, depth + 1);
}

function encodeNumber(value) {
  return isFinite(value) && !(value === 0 && 1 / value < 0) ? `${value}` : mark(`"n","${value === 0 ? "-0" : value}"`);
}

function encodeObject(value, name, context, depth) {
  switch (name) {
    case "Object": case "Arguments": return encodePlain(value, context, depth);
    case "Array": return encodeArray(value, context, depth);
    case "Date": return mark(`"d",${encodeNumber(dateGetTime(value))}`);
    case "RegExp": {
      const {source, flags} = regExpParts(value);
      return mark(`"x",${stringify(source)},${stringify(flags)}`);
    }
    case "Map": return encodeMap(value, context, depth);
    case "Set": return encodeSet(value, context, depth);
    case "Boolean": case "Number": case "String": case "BigInt": return mark(`"w",${encode(unboxed[name](value), context, depth)}`);
    case "Error": return encodeError(value, context, depth);
    case "DOMException": return mark(`"q",${stringify(`${value.name}`)},${stringify(`${value.message}`)}`);
    case "ArrayBuffer":
      if (bufferDetached(value)) throw refused(name);
      return mark(`"y","${toBase64(new Bytes(value))}"`);
    case "ImageData": return mark(`"p",${imageWidth(value)},${imageHeight(value)},${encode(imageBytes(value), context, depth)}`);
    case "Blob": case "File":
      append(context.blobs, {__proto__: null, content: value, base64: null, ...describeBlob(value, name)});
      return mark(`"f",${context.blobs.length - 1}`);
  }
  if (!(name in VIEWS)) throw refused(name);
  const {buffer, offset, size} = viewParts(value);
  const length = name === "DataView" ? size : size / VIEWS[name].BYTES_PER_ELEMENT;
  return mark(`"v","${name}",${encode(buffer, context, depth)},${offset},${length}`);
}

function describeBlob(blob, name) {
  if (name === "Blob") return {__proto__: null, type: blobType(blob)};
  return {__proto__: null, type: blobType(blob), name: fileName(blob), lastModified: fileTime(blob)};
}

function encodePlain(object, context, depth) {
  const keys = objectKeys(object);
  let text = "";
  for (let i = 0; i < keys.length; i++) {
    if (hasOwn(object, keys[i])) text += `${text && ","}${stringify(keyOf(keys[i]))}:${encode(object[keys[i]], context, depth)}`;
  }
  return `{${text}}`;
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
    return mark(`"s",${length}${encodeProperties(array, keys, context, depth)}`);
  }
  let text = "";
  for (let i = 0; i < length; i++) text += (i ? "," : "") + encode(array[i], context, depth);
  return `[${text}]`;
}

function encodeMap(map, context, depth) {
  const entries = []; // copied first: getters may change the map
  mapForEach(map, (value, key) => {
    append(entries, key);
    append(entries, value);
  });
  return mark(`"m"${encodeAll(entries, context, depth)}`);
}

function encodeSet(set, context, depth) {
  const entries = [];
  setForEach(set, value => { append(entries, value); });
  return mark(`"t"${encodeAll(entries, context, depth)}`);
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
  return mark(`"e",${fields}${cause === undefined ? "" : `,${encode(cause.value, context, depth)}`}`);
}

// A new value from a clone.
export function valueOf({text, blobs}) {
  const value = parse(text);
  return includes(text, MARKED) ? decode(value, {__proto__: null, seen: [], blobs}) : value;
}

function decode(node, context) {
  if (typeof node !== "object" || node === null) return node;
  if (isArray(node)) {
    append(context.seen, node);
    for (let i = 0; i < node.length; i++) node[i] = decode(node[i], context); // own elements: no setter is called
    return node;
  }
  const keys = objectKeys(node);
  return keys.length === 1 && keys[0] === MARK ? decodeMark(node[MARK], context) : decodePlain(node, keys, context);
}

function decodePlain(node, keys, context) {
  let isEscaped = false;
  for (let i = 0; i < keys.length; i++) if (startsWith(keys[i], MARK)) isEscaped = true;
  const object = isEscaped ? {} : node;
  append(context.seen, object);
  for (let i = 0; i < keys.length; i++) {
    const value = decode(node[keys[i]], context);
    if (isEscaped) defineValue(object, startsWith(keys[i], MARK) ? slice(keys[i], 1) : keys[i], value, ENTRY);
    else node[keys[i]] = value;
  }
  return object;
}

function decodeMark(node, context) {
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
