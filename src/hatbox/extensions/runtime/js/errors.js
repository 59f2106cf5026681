// Errors that scripts throw and do not catch, made into what the host logs: name, message, stack, file and line.

import {
  NativeError, NativeWeakMap, captureStackTrace, defineValue, indexOf, regExpExec, slice, stringify, weakMapGet, weakMapSet,
} from "./primordials.js";

const ABOVE = /^(moz-extension:\/\/[^\s()]+):(\d+)\n/; // what stands before the message of an error in the syntax
const PLACE = /(moz-extension:\/\/[^\s()]+?):(\d+):(\d+)\)?$/m;

const LONGEST = 10000; // characters of each part: a script can throw whatever it likes

const files = new NativeWeakMap();

// Of an error in the syntax of a module the engine does not tell where it is; at least the file is known.
export function rememberFile(error, file) {
  if (typeof error === "object" && error !== null) weakMapSet(files, error, file);
}

// Who calls `hidden`, to be put into an error later: formatting a stack costs more than keeping it.
export function callSite(hidden) {
  const site = {};
  captureStackTrace(site, hidden);
  return site;
}

// A real Error of the script's own realm, with the stack of the call that it is the answer to.
export function errorAt(site, message) {
  const error = new NativeError(message);
  const stack = `${site.stack}`;
  const frames = indexOf(stack, "\n    at ");
  const shown = frames < 0 ? `Error: ${message}` : `Error: ${message}${slice(stack, frames)}`;
  defineValue(error, "stack", shown, {__proto__: null, writable: true, enumerable: false, configurable: true});
  return error;
}

// JSON text that describes whatever was thrown. Nothing that a script throws may make this throw in turn.
export function describe(thrown) {
  const name = slice(textOf(thrown, "name", "Error"), 0, LONGEST);
  const message = slice(thrown !== null && typeof thrown === "object" ? textOf(thrown, "message", "") : asText(thrown), 0, LONGEST);
  const whole = textOf(thrown, "stack", "");
  const stack = slice(framesOf(whole), 0, LONGEST);
  const place = placeOf(placeAbove(slice(whole, 0, LONGEST)), placeIn(stack)) ?? fileOf(thrown);
  return stringify({__proto__: null, name, message, stack, ...place});
}

// Only the frames: before them stands the message again, or lines of source that node:vm puts there.
function framesOf(stack) {
  const start = indexOf(stack, "    at ");
  return start < 0 ? "" : slice(stack, start);
}

export function placeIn(stack) {
  const found = regExpExec(PLACE, stack);
  return found === null ? null : {__proto__: null, file: found[1], line: +found[2], column: +found[3]};
}

function placeAbove(stack) {
  const found = regExpExec(ABOVE, stack);
  return found === null ? null : {__proto__: null, file: found[1], line: +found[2], column: 0};
}

// Of an error in the syntax the frames are those of who imports the script; else they tell the column too.
function placeOf(above, inFrames) {
  if (above === null || inFrames === null) return above ?? inFrames;
  return above.file === inFrames.file && above.line === inFrames.line ? inFrames : above;
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
