// Encodes what a script returns or throws as text for the host.

import {encodeMessage, learnClasses} from "./values.js";
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

// JSON text: the `message` of a thrown value or null, and the encoded value or null.
export function encodeThrown(thrown) {
  let message = null;
  try {
    if (typeof thrown?.message === "string") message = thrown.message;
  } catch {} // a getter that throws
  return stringify([message, encodeResult(thrown)]);
}
