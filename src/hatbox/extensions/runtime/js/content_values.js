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

// JSON text: the message of an error, or null for a value without one, and the encoded value, or null if it cannot be cloned.
export function encodeThrown(thrown) {
  let message = null;
  try {
    if (typeof thrown?.message === "string") ({message} = thrown);
  } catch { /* a getter of the page threw */ }
  return stringify([message, encodeResult(thrown)]);
}
