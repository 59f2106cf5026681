// Encodes what a script returns or throws as text for the host.

import {className, encodeMessage, learnClasses} from "./values.js";
import {platformClass, types} from "./page_types.js";
import {stringify} from "./primordials.js";

learnClasses(types, platformClass);

// The JSON text of a value; null if it cannot be cloned.
export function encodeResult(value) {
  try {
    return encodeMessage(value);
  } catch {
    return null;
  }
}

// JSON text: the message of an error, or any other value as text, and the encoded value or null.
export function encodeThrown(thrown) {
  let message;
  try {
    message = typeof thrown === "object" && thrown !== null && typeof thrown.message === "string" ? thrown.message : `${thrown}`;
  } catch {
    message = className(thrown);
  }
  return stringify([message, encodeResult(thrown)]);
}
