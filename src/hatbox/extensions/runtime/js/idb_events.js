// Events of IndexedDB. They bubble from a request to its transaction and its database, which Deno's EventTarget cannot do
// for objects that are not nodes. After each listener its microtasks run, while the transaction is still active.

import {NativeTypeError, append, apply, create, defineGetter, defineValue, mapped, natives} from "./primordials.js";
import {finishClass, setState, stateOf} from "./idb_classes.js";

const {
  Event: NativeEvent, EventTarget: NativeEventTarget, Object: {defineProperty}, aborted, addEventListener: addNativeListener, defaultPrevented, eventBubbles,
  eventType, reportError,
} = natives;
const [CAPTURING, AT_TARGET, BUBBLING] = [1, 2, 3];
const OVERRIDE = {__proto__: null, enumerable: false, configurable: true};

let settle = () => {};

// `runMicrotasks` runs the pending microtasks.
export function configureEvents(runMicrotasks) {
  settle = runMicrotasks;
}

export class IdbTarget extends NativeEventTarget {
  #listeners = []; // {type, callback, capture, once, handler}: a handler is an on… attribute
  #handlers = create(null);

  addEventListener(type, callback, options) {
    if (arguments.length < 2) throw new NativeTypeError(`EventTarget.addEventListener: At least 2 arguments required, but only ${arguments.length} passed`);
    const name = `${type}`;
    const {capture, once, signal} = flattened(options);
    if (callback === null || callback === undefined || (signal !== null && aborted(signal))) return;
    if (this.#find(name, callback, capture) >= 0) return;
    this.#add({__proto__: null, type: name, callback, capture, once, isHandler: false});
    if (signal !== null) addNativeListener(signal, "abort", () => { this.removeEventListener(name, callback, capture); });
  }

  removeEventListener(type, callback, options) {
    const at = this.#find(`${type}`, callback, flattened(options).capture);
    if (at >= 0) this.#remove(this.#listeners[at]);
  }

  dispatchEvent(event) {
    dispatch(event, [this]);
    return !defaultPrevented(event);
  }

  #add(listener) {
    append(this.#listeners, listener);
  }

  #remove(listener) {
    const left = []; // a new list: a dispatch may be reading the old one
    for (let i = 0; i < this.#listeners.length; i++) if (this.#listeners[i] !== listener) append(left, this.#listeners[i]);
    this.#listeners = left;
    listener.removed = true;
  }

  #find(type, callback, capture) {
    for (let i = 0; i < this.#listeners.length; i++) {
      const each = this.#listeners[i];
      if (!each.isHandler && each.type === type && each.callback === callback && each.capture === capture) return i;
    }
    return -1;
  }

  static handler(target, type) { return target.#handlers[type]?.callback ?? null; }

  static setHandler(target, type, value) {
    const callback = typeof value === "function" || (typeof value === "object" && value !== null) ? value : null;
    const known = target.#handlers[type];
    if (known !== undefined) known.callback = callback;
    else if (callback !== null) target.#add(target.#handlers[type] = {__proto__: null, type, callback, capture: false, once: false, isHandler: true});
  }

  static listens(target, type) {
    for (let i = 0; i < target.#listeners.length; i++) {
      const listener = target.#listeners[i];
      if (listener.type === type && listener.callback !== null) return true;
    }
    return false;
  }

  // Call the listeners of one target. Returns whether one of them threw.
  static invoke(target, event, flags, phase) {
    const type = eventType(event);
    const listeners = target.#listeners;
    const {length} = listeners;
    let threw = false;
    for (let i = 0; i < length && !flags.stoppedNow; i++) {
      const listener = listeners[i];
      const fits = listener.type === type && !listener.removed && listener.callback !== null;
      if (!fits || listener.capture !== (phase === CAPTURING)) continue;
      if (listener.once) target.#remove(listener);
      if (!call(listener, target, event)) threw = true;
      settle();
    }
    return threw;
  }
}
const {handler: handlerOf, setHandler, invoke, listens} = IdbTarget;
delete IdbTarget.listens;
delete IdbTarget.handler;
delete IdbTarget.setHandler;
delete IdbTarget.invoke;
defineValue(IdbTarget.prototype, "constructor", NativeEventTarget, OVERRIDE); // scripts see no class in between

function flattened(options) {
  if (typeof options !== "object" || options === null) return {__proto__: null, capture: !!options, once: false, signal: null};
  return {__proto__: null, capture: !!options.capture, once: !!options.once, signal: options.signal ?? null};
}

function call({callback}, target, event) {
  try {
    if (typeof callback === "function") apply(callback, target, [event]);
    else apply(callback.handleEvent, callback, [event]);
    return true;
  } catch (error) {
    reportError(error);
    return false;
  }
}

// Dispatch an event to `path`: the target first, then its ancestors. Returns {threw, prevented}.
export function dispatch(event, path) {
  const state = stateFor(event, path);
  let threw = false;
  const visit = (at, phase) => {
    if (state.stopped) return;
    state.current = path[at];
    state.phase = at === 0 ? AT_TARGET : phase;
    if (invoke(path[at], event, state, phase === CAPTURING || at > 0 ? phase : AT_TARGET)) threw = true;
  };
  for (let i = path.length - 1; i >= 0; i--) visit(i, CAPTURING);
  visit(0, AT_TARGET);
  if (eventBubbles(event)) for (let i = 1; i < path.length; i++) visit(i, BUBBLING);
  state.current = null;
  state.phase = 0;
  return {__proto__: null, threw, prevented: defaultPrevented(event)};
}

// Dispatch an event of this type without creating it if nothing listens, which is faster.
export function dispatchNew(type, path, bubbles = false, cancelable = false) {
  for (let i = 0; i < path.length; i++) if (listens(path[i], type)) return dispatch(simpleEvent(type, bubbles, cancelable), path);
  return UNHEARD;
}

function stateFor(event, path) {
  const state = newState(path);
  if (IdbEvent.setPath(event, state)) return state;
  for (let i = 0; i < OWN.length; i++) { // an event of a script
    const name = OWN[i];
    defineGetter(event, name, () => show(state, name), OVERRIDE);
  }
  return state;
}

const OWN = ["target", "srcElement", "currentTarget", "eventPhase", "composedPath", "stopPropagation", "stopImmediatePropagation"];
const UNHEARD = {__proto__: null, threw: false, prevented: false};

const newState = path => ({__proto__: null, path, current: null, phase: 0, stopped: false, stoppedNow: false});

// The properties of an event that depend on its path.
function show(state, name) {
  switch (name) {
    case "target": case "srcElement": return state.path[0] ?? null;
    case "currentTarget": return state.current;
    case "eventPhase": return state.phase;
    case "composedPath": return () => (state.current === null ? [] : mapped(state.path, target => target));
    case "stopPropagation": return () => { state.stopped = true; };
  }
  return () => { state.stopped = state.stoppedNow = true; };
}

// An Event with a path. Scripts see it as Event.
class IdbEvent extends NativeEvent {
  #state = newState([]);

  static setPath(event, state) {
    if (!(#state in event)) return false;
    event.#state = state;
    return true;
  }

  static {
    for (let i = 0; i < OWN.length; i++) {
      const name = OWN[i];
      defineProperty(this.prototype, name, {__proto__: null, get() { return show(this.#state, name); }, enumerable: true, configurable: true});
    }
    defineValue(this.prototype, "constructor", NativeEvent, OVERRIDE);
  }
}

export const simpleEvent = (type, bubbles = false, cancelable = false) => new IdbEvent(type, {__proto__: null, bubbles, cancelable});

// Define the on… attributes of a class.
export function addHandlers(Class, types) {
  for (let i = 0; i < types.length; i++) {
    const type = types[i];
    defineProperty(Class.prototype, `on${type}`, {
      __proto__: null,
      get() {
        stateOf(this);
        return handlerOf(this, type);
      },
      set(value) {
        stateOf(this);
        setHandler(this, type, value);
      },
      enumerable: true,
      configurable: true,
    });
  }
}

export class IDBVersionChangeEvent extends IdbEvent {
  constructor(type, init) {
    if (arguments.length === 0) throw new NativeTypeError("IDBVersionChangeEvent constructor: At least 1 argument required, but only 0 passed");
    super(type, init);
    const newVersion = init?.newVersion ?? null;
    setState(this, {__proto__: null, oldVersion: +(init?.oldVersion ?? 0), newVersion: newVersion === null ? null : +newVersion});
  }

  get oldVersion() { return stateOf(this).oldVersion; }
  get newVersion() { return stateOf(this).newVersion; }
}
finishClass(IDBVersionChangeEvent);
