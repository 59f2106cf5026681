// Stack traces for scripts contain only files of the extension. They do not reveal where Hatbox is installed.

import {NativeError, defineValue, startsWith, uncurryThis} from "./primordials.js";

const OWN = "moz-extension://";
const errorToText = uncurryThis(Error.prototype.toString);

let fileOf = null;
let textOf = null;

function learnMethods(site) {
  const prototype = Object.getPrototypeOf(site);
  fileOf = uncurryThis(prototype.getFileName);
  textOf = uncurryThis(prototype.toString);
}

// Not replaceable: a script with access to call sites could reach Deno's internals.
export function filterStacks() {
  defineValue(Error, "prepareStackTrace", (error, sites) => {
    let text = header(error);
    for (let i = 0; i < sites.length; i++) {
      const file = fileOf(sites[i]);
      if (typeof file === "string" && startsWith(file, OWN)) text += `\n    at ${textOf(sites[i])}`;
    }
    return text;
  }, {__proto__: null, enumerable: false});
}

function header(error) {
  try {
    return errorToText(error);
  } catch {
    return "Error";
  }
}

// Get the methods of call sites from a frame of our own, before a script can replace them.
NativeError.prepareStackTrace = (_, sites) => { learnMethods(sites[0]); };
void new NativeError().stack;
delete NativeError.prepareStackTrace;
