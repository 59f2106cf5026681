// Sends console messages and uncaught errors of a document to the host, through the pipe: a script that floods waits for
// the host. Chromium would send an event for each, without a limit.

import {createConsole} from "./console.js";
import {withShownOrigin} from "./errors.js";
import {types} from "./page_types.js";
import {LOG} from "./protocol.js";
import {defineValue, stringify, uncurryThis} from "./primordials.js";
import {className, show} from "./values.js";

const addEventListener = uncurryThis(EventTarget.prototype.addEventListener);

function inspect(value) {
  if (typeof value === "object" && value !== null) {
    if (types.isNativeError(value)) return withShownOrigin(`${value.stack}`);
    const name = className(value);
    if (name !== "Object" && name !== "Array") return `[object ${name}]`;
  }
  return show(value) ?? (typeof value === "symbol" ? "Symbol()" : `${value}`);
}

export function sendLog({pipe, report}) {
  const console = createConsole({
    inspect,
    emit: (level, text, location) => { pipe.send(`["${LOG}","${level}",${stringify(text)},${location === null ? "null" : stringify(location)}]`); },
  });
  defineValue(globalThis, "console", console, {__proto__: null, writable: true, enumerable: false, configurable: true});
  addEventListener(globalThis, "error", event => { report("error", event.error ?? event.message); });
  addEventListener(globalThis, "unhandledrejection", event => { report("rejection", event.reason); });
}
