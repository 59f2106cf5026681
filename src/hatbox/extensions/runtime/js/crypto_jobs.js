// Limits how many operations of crypto.subtle run at once; the others wait in a queue. Deno runs each in a thread: a
// script that starts hundreds would occupy all cores, unnoticed by the watchdog.

import {
  Buffer, Bytes, NativePromise, apply, create, defineValue, getOwnPropertyDescriptor, getPrototypeOf, isArray, mapped,
  promiseThen, setBytes,
} from "./primordials.js";

const NAMES = [
  "encrypt", "decrypt", "sign", "verify", "digest", "generateKey", "deriveKey", "deriveBits", "wrapKey", "unwrapKey",
];
const DEPTH = 3; // of the objects that describe an algorithm
const {isView} = Buffer;
const AS_BEFORE = {__proto__: null, writable: true, enumerable: true, configurable: true};

export function limitJobs({max, isArrayBuffer}) {
  const {prototype} = SubtleCrypto;
  const keys = CryptoKey.prototype;
  let running = 0;
  let first = null; // of the queue
  let last = null;

  const start = (native, self, args) => {
    running++;
    try {
      const result = apply(native, self, args);
      promiseThen(result, done, done);
      return result;
    } catch (error) { // the script has broken promises
      running--;
      throw error;
    }
  };
  const done = () => {
    running--;
    if (first === null || running >= max) return;
    const {native, self, args, resolve, reject, next} = first;
    first = next;
    if (first === null) last = null;
    try {
      promiseThen(start(native, self, args), resolve, reject);
    } catch (error) {
      reject(error);
    }
  };
  const wait = (native, self, args) => new NativePromise((resolve, reject) => {
    const job = {__proto__: null, native, self, args: mapped(args, each => copied(each, DEPTH)), resolve, reject, next: null};
    if (last === null) first = job;
    else last.next = job;
    last = job;
  });

  // Copy the arguments: the script may change them while the operation waits.
  const copied = (value, depth) => {
    if (typeof value !== "object" || value === null) return value;
    if (isArrayBuffer(value) || isView(value)) return bytesOf(value);
    if (depth === 0 || getPrototypeOf(value) === keys) return value;
    if (isArray(value)) return mapped(value, each => copied(each, depth - 1));
    const copy = create(value); // non-enumerable properties are inherited
    for (const name in value) defineValue(copy, name, copied(value[name], depth - 1), AS_BEFORE);
    return copy;
  };

  for (let i = 0; i < NAMES.length; i++) {
    const name = NAMES[i];
    const descriptor = getOwnPropertyDescriptor(prototype, name);
    const native = descriptor.value;
    const method = {
      [name](...args) { return running < max ? start(native, this, args) : wait(native, this, args); },
    }[name];
    defineValue(method, "length", native.length, {__proto__: null, enumerable: false, configurable: true});
    defineValue(prototype, name, method, descriptor);
  }
}

function bytesOf(value) {
  const seen = isView(value) ? new Bytes(value.buffer, value.byteOffset, value.byteLength) : new Bytes(value);
  const bytes = new Bytes(seen.length);
  setBytes(bytes, seen);
  return bytes;
}
