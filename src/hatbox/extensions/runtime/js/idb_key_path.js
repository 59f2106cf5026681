// Key paths of IndexedDB: validation, evaluation on a value, and injection of a generated key.

import {NativeRegExp, append, blobSize, blobType, defineValue, fileName, fileTime, hasOwn, isArray, regExpExec, split} from "./primordials.js";
import {idbError} from "./idb_errors.js";
import {keyOf, multiEntryKeys} from "./idb_keys.js";
import {className} from "./values.js";

const IDENTIFIER = new NativeRegExp("^[\\p{ID_Start}$_][\\p{ID_Continue}$_\\u200c\\u200d]*$", "u");
const ENTRY = {__proto__: null, writable: true, configurable: true};
const BLOB_FIELDS = {__proto__: null, size: blobSize, type: blobType};
const FILE_FIELDS = {__proto__: null, size: blobSize, type: blobType, name: fileName, lastModified: fileTime};

// Convert the argument `keyPath`: a string or an array of strings. Throws SyntaxError.
export function keyPathOf(value) {
  if (!isArray(value)) return checked(`${value}`);
  if (value.length === 0) throw idbError("SyntaxError");
  const paths = [];
  for (let i = 0; i < value.length; i++) append(paths, checked(`${value[i]}`));
  return paths;
}

function checked(path) {
  if (path === "") return path;
  const names = split(path, ".");
  for (let i = 0; i < names.length; i++) if (regExpExec(IDENTIFIER, names[i]) === null) throw idbError("SyntaxError");
  return path;
}

// The value at a key path; undefined if it does not exist.
export function evaluate(value, keyPath) {
  if (isArray(keyPath)) {
    const values = [];
    for (let i = 0; i < keyPath.length; i++) {
      const item = evaluate(value, keyPath[i]);
      if (item === undefined) return undefined;
      append(values, item);
    }
    return values;
  }
  if (keyPath === "") return value;
  const names = split(keyPath, ".");
  for (let i = 0; i < names.length && value !== undefined; i++) value = propertyOf(value, names[i]);
  return value;
}

function propertyOf(value, name) {
  if (typeof value === "string") return name === "length" ? value.length : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (hasOwn(value, name)) return value[name];
  const kind = className(value);
  const fields = kind === "Blob" ? BLOB_FIELDS : kind === "File" ? FILE_FIELDS : null;
  return fields !== null && name in fields ? fields[name](value) : undefined;
}

// The keys of a value in an index. Invalid keys are left out.
export function indexKeys(value, {keyPath, multiEntry}) {
  const found = evaluate(value, keyPath);
  if (found === undefined) return [];
  if (multiEntry && isArray(found)) return multiEntryKeys(found);
  const key = keyOf(found);
  return key === null ? [] : [key];
}

// Whether a generated key can be injected.
export function canInject(value, keyPath) {
  const names = split(keyPath, ".");
  for (let i = 0; i < names.length; i++) {
    if (typeof value !== "object" || value === null) return false;
    if (!hasOwn(value, names[i])) return true;
    value = value[names[i]];
  }
  return typeof value === "object" && value !== null;
}

export function inject(value, keyPath, key) {
  const names = split(keyPath, ".");
  for (let i = 0; i < names.length - 1; i++) {
    if (!hasOwn(value, names[i])) defineValue(value, names[i], {}, ENTRY);
    value = value[names[i]];
  }
  defineValue(value, names[names.length - 1], key, ENTRY);
}
