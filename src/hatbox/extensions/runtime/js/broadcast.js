// BroadcastChannel between the scripts of one background. Messages stay in the process: pages do not run here.

import {NativeDOMException, NativeMap, NativeTypeError, append, apply, create, defineValue, getOwnPropertyDescriptor, mapDelete, mapForEach, mapSet, uncurryThis} from "./primordials.js";

const {MessageEvent: NativeMessageEvent, structuredClone: nativeClone} = globalThis;
const NativeEventTarget = EventTarget;
const addEventListener = uncurryThis(NativeEventTarget.prototype.addEventListener);
const dispatchEvent = uncurryThis(NativeEventTarget.prototype.dispatchEvent);
const SHOWN = ["name", "postMessage", "close"];

// `later` runs a function as a new task; `origin` is the origin of the page.
export function createBroadcastChannel({origin, later}) {
  const open = new NativeMap(); // channel → true, in the order of creation

  class BroadcastChannel extends NativeEventTarget {
    #name;
    #closed = false;
    #handlers = create(null);

    constructor(name) {
      if (arguments.length === 0) throw new NativeTypeError("BroadcastChannel constructor: At least 1 argument required, but only 0 passed");
      const text = `${name}`;
      super();
      this.#name = text;
      mapSet(open, this, true);
    }

    get name() { return this.#name; }

    postMessage(message) {
      if (arguments.length === 0) throw new NativeTypeError("BroadcastChannel.postMessage: At least 1 argument required, but only 0 passed");
      if (this.#closed) throw new NativeDOMException("An attempt was made to use an object that is not, or is no longer, usable", "InvalidStateError");
      const clone = nativeClone(message); // now: the script may change the message, and expects DataCloneError here
      const others = [];
      mapForEach(open, (_, channel) => { if (channel !== this && channel.#name === this.#name) append(others, channel); });
      for (let i = 0; i < others.length; i++) later(() => { others[i].#receive(nativeClone(clone)); });
    }

    close() {
      this.#closed = true;
      mapDelete(open, this);
    }

    #receive(data) {
      if (!this.#closed) dispatchEvent(this, new NativeMessageEvent("message", {__proto__: null, data, origin}));
    }

    static {
      for (const type of ["message", "messageerror"]) {
        Object.defineProperty(this.prototype, `on${type}`, {
          __proto__: null,
          get() { return this.#handlers[type]?.handler ?? null; },
          set(value) {
            const handler = typeof value === "function" ? value : null;
            if (this.#handlers[type] !== undefined) {
              this.#handlers[type].handler = handler;
            } else if (handler !== null) {
              const entry = this.#handlers[type] = {__proto__: null, handler};
              addEventListener(this, type, event => { if (entry.handler !== null) apply(entry.handler, this, [event]); });
            }
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
  }

  for (let i = 0; i < SHOWN.length; i++) {
    const property = getOwnPropertyDescriptor(BroadcastChannel.prototype, SHOWN[i]);
    property.enumerable = true;
    Object.defineProperty(BroadcastChannel.prototype, SHOWN[i], property);
  }
  defineValue(BroadcastChannel.prototype, Symbol.toStringTag, "BroadcastChannel", {__proto__: null, enumerable: false, configurable: true});
  return BroadcastChannel;
}
