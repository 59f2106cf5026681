// Describes uncaught errors of scripts for the log of the host: name, message, stack, file and line.

import {
  NativeError, NativeWeakMap, captureStackTrace, defineValue, indexOf, join, regExpExec, slice, split, stringify, weakMapGet, weakMapSet,
} from "./primordials.js";

const HEADER = /^(moz-extension:\/\/[^\s()]+):(\d+)\n/; // precedes the message of a syntax error
const LOCATION = /(moz-extension:\/\/[^\s()]+?):(\d+):(\d+)\)?$/m;

const MAX_LENGTH = 10000; // characters of each part, because a script can throw anything
const MAX_STACK = 100000; // characters of a stack with its message

const files = new NativeWeakMap();

let nativeOrigin = null; // the origin of files in stacks, and how it is described
let shownOrigin = "";

// Describe files of one origin as files of another: Chromium serves moz-extension:// files from an https origin.
export function showOrigin(native, shown) {
  nativeOrigin = native;
  shownOrigin = shown;
}

export function withShownOrigin(stack) {
  return nativeOrigin === null ? stack : join(split(stack, nativeOrigin), shownOrigin);
}

// V8 does not report the location of a syntax error in a module, so the file is recorded here.
export function rememberFile(error, file) {
  if (typeof error === "object" && error !== null) weakMapSet(files, error, file);
}

// Capture the stack of the caller of `hidden`. It is formatted only when an error needs it, because that is slow.
export function callSite(hidden) {
  const site = {};
  captureStackTrace(site, hidden);
  return site;
}

// An Error with the stack of the API call that failed.
export function errorAt(site, message) {
  const error = new NativeError(message);
  const stack = `${site.stack}`;
  const frames = indexOf(stack, "\n    at ");
  const shown = frames < 0 ? `Error: ${message}` : `Error: ${message}${slice(stack, frames)}`;
  defineValue(error, "stack", shown, {__proto__: null, writable: true, enumerable: false, configurable: true});
  return error;
}

// Describe a thrown value as JSON text. Must not throw, whatever the value is.
export function describe(thrown) {
  const name = slice(textOf(thrown, "name", "Error"), 0, MAX_LENGTH);
  const message = slice(thrown !== null && typeof thrown === "object" ? textOf(thrown, "message", "") : asText(thrown), 0, MAX_LENGTH);
  const whole = withShownOrigin(slice(textOf(thrown, "stack", ""), 0, MAX_STACK));
  const stack = slice(framesOf(whole), 0, MAX_LENGTH);
  const location = chooseLocation(headerLocation(slice(whole, 0, MAX_LENGTH)), locationIn(stack)) ?? fileOf(thrown);
  return stringify({__proto__: null, name, message, stack, ...location});
}

// Only the frames. The message, or lines of source that node:vm adds, precede them.
function framesOf(stack) {
  const start = indexOf(stack, "    at ");
  return start < 0 ? "" : slice(stack, start);
}

export function locationIn(stack) {
  const found = regExpExec(LOCATION, withShownOrigin(stack));
  return found === null ? null : {__proto__: null, file: found[1], line: +found[2], column: +found[3]};
}

function headerLocation(stack) {
  const found = regExpExec(HEADER, stack);
  return found === null ? null : {__proto__: null, file: found[1], line: +found[2], column: 0};
}

// The frames of a syntax error are those of the importing script. For other errors they include the column.
function chooseLocation(header, frame) {
  if (header === null || frame === null) return header ?? frame;
  return header.file === frame.file && header.line === frame.line ? frame : header;
}

function fileOf(thrown) {
  const file = typeof thrown === "object" && thrown !== null ? weakMapGet(files, thrown) : undefined;
  return file === undefined ? null : {__proto__: null, file, line: 0, column: 0};
}

function textOf(thrown, key, otherwise) {
  try {
    const value = thrown?.[key];
    return typeof value === "string" ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function asText(value) {
  try {
    return typeof value === "symbol" ? "Symbol()" : `${value}`;
  } catch {
    return "";
  }
}
