// Stack traces as scripts see them: with the extension's own files only. Where Hatbox is installed is not theirs to know.

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

// For good, because a script that had the frames could walk from them to what it must not have.
export function keepStacksClean() {
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

// The methods of frames, taken from one of our own before a script can have touched them.
NativeError.prepareStackTrace = (_, sites) => { learnMethods(sites[0]); };
void new NativeError().stack;
delete NativeError.prepareStackTrace;
