// `browser`, made from the description that the host sends: calls go out as messages, answers and events come in.
// Knows no namespace by name: what a namespace needs beyond calls and events is in members/, one file for each.

import {
  NativeDOMException, NativeError, NativeMap, NativePromise, append, apply, captureStackTrace, create, defineGetter, defineValue, each, freeze, getOwnPropertyDescriptor, hasOwn, isArray,
  mapDelete, mapGet, mapHas, mapSet, mapSize, objectKeys, promiseThen, slice, split, startsWith, stringify,
} from "./primordials.js";
import {anyArguments, compileCall} from "./arguments.js";
import {callSite, describe, errorAt} from "./errors.js";
import {createPorts} from "./ports.js";
import {encode, encodeMessage, refuseLarge} from "./values.js";

const WINDOW = 4096; // calls that may be unanswered; those beyond wait here, in the memory of whoever made them
const ENTRY = {__proto__: null, writable: false, enumerable: true, configurable: true};

const HIDDEN = {__proto__: null, enumerable: false, configurable: true};

// A function that looks as those of Firefox do, all of them.
function disguised(make) {
  defineValue(make, "name", "", HIDDEN);
  return defineValue(make, "length", 1, HIDDEN);
}

export function createBridge({pipe, data, mostListeners}) {
  const {send, sendNow} = pipe;

  // ── Requests: what was asked of the host and is not answered yet ──

  const pending = create(null); // id → {settle(ok, value)}
  const held = new NativeMap(); // position → message, beyond the window
  let nextId = 1;
  let unanswered = 0;
  let heldFrom = 0;
  let heldTo = 0;

  function request(kind, rest, settle) {
    refuseLarge(rest);
    const id = nextId++;
    pending[id] = settle;
    const message = `["${kind}",${id},${rest}]`;
    if (unanswered === 0) {
      unanswered = 1;
      sendNow(message); // alone: whoever awaits it waits for nothing else
    } else if (unanswered < WINDOW) {
      unanswered++;
      send(message);
    } else {
      mapSet(held, heldTo++, message);
    }
    return id;
  }

  function answered(id, ok, value) {
    const settle = pending[id];
    if (settle === undefined) return;
    delete pending[id];
    if (heldFrom < heldTo) {
      send(mapGet(held, heldFrom));
      mapDelete(held, heldFrom++);
    } else {
      unanswered--;
    }
    settle(ok, value);
  }

  // For the bridge's own needs: a promise of an answer, which rejects with a message.
  function ask(kind, rest) {
    let id;
    const promise = new NativePromise((resolve, reject) => {
      id = request(kind, rest, (ok, value) => (ok ? resolve(value) : reject(value)));
    });
    return {__proto__: null, id, promise};
  }

  // For whoever waits for the answer at the pipe, and so cannot wait until there is room in the window: the id.
  function askApart(kind, rest) {
    refuseLarge(rest);
    const id = nextId++;
    sendNow(`["${kind}",${id},${rest}]`);
    return id;
  }

  // ── Calls ──

  let lastError = null;
  let lastErrorSeen = true;
  let input = false; // whether a listener runs that was told of something the user does

  // The message of a call, which says if it was made while the user did something.
  function call(path, text, settle) {
    request("c", `"${path}",${text}${input ? ",true" : ""}`, settle);
  }

  function functionOf(path, spec) {
    const check = spec.anyArguments ? anyArguments : compileCall(spec.shown, spec.parameters, spec.callback);
    const make = (...args) => {
      let ready;
      try {
        ready = checked(check, args, make);
      } catch (error) {
        if (!(error instanceof NativeDOMException)) throw error;
        return refusedClone(error, spec, args, make);
      }
      const {text, callback} = ready;
      let site = null; // taken when the call is on its way, so that the host does not wait for it: it costs a third of the rest
      if (callback !== null) {
        call(path, text, (ok, value) => { callBack(callback, ok, value, spec.returns, site); });
        site = callSite(make);
        return undefined;
      }
      const answer = new NativePromise((resolve, reject) => {
        call(path, text, (ok, value) => {
          if (ok) resolve(spec.returns ? value : undefined);
          else reject(errorAt(site, value));
        });
      });
      site = callSite(make);
      return answer;
    };
    return disguised(make);
  }

  // As in Firefox, an argument that cannot be cloned rejects the promise, or sets lastError for the callback.
  function refusedClone(error, spec, args, make) {
    const refusal = new NativePromise((_, reject) => { reject(error); });
    const callback = spec.callback ? args[args.length - 1] : null;
    if (typeof callback !== "function") return refusal;
    const site = callSite(make);
    promiseThen(refusal, () => {}, () => { callBack(callback, false, error, spec.returns, site); });
    return undefined;
  }

  // What check() says of the arguments; what it throws has the stack of whoever called `hidden`.
  function checked(check, args, hidden) {
    try {
      return check(args);
    } catch (error) {
      captureStackTrace(error, hidden);
      throw error;
    }
  }

  // As Firefox calls them: of a call that failed there is no argument, and runtime.lastError while the callback runs.
  function callBack(callback, ok, value, returns, site) {
    lastError = ok ? null : freeze(value instanceof NativeDOMException ? value : errorAt(site, value));
    lastErrorSeen = ok;
    const failure = ok ? "" : `${lastError.name}: ${lastError.message}`;
    try {
      if (ok) callback(returns ? value : undefined);
      else callback();
    } catch (error) {
      report("error", error);
    } finally {
      if (!lastErrorSeen) report("error", errorAt(site, `Unchecked lastError value: ${failure}`));
      lastError = null;
    }
  }

  // ── Events ──

  const listeners = new NativeMap(); // id → {listener, invoke}
  const events = new NativeMap(); // path → the event object, which outlives a namespace that comes and goes
  const invokers = create(null); // path → how a listener is called, where members/ has a way of its own
  const preparers = create(null); // path → makes of an event's arguments what JSON has no word for
  let nextListener = 1;

  const refused = create(null); // path → the words that only a caller with more permissions may give to addListener

  function refuseWords(path, extra) {
    for (let i = 0; i < refused[path].length; i++) {
      const {parameter, word, excludes, message} = refused[path][i];
      const words = extra[parameter];
      if (hasWord(words, word) && (excludes === null || hasWord(words, excludes))) throw new NativeError(message);
    }
  }

  function hasWord(words, word) {
    for (let i = 0; isArray(words) && i < words.length; i++) if (words[i] === word) return true;
    return false;
  }

  function eventOf(path, spec) {
    refused[path] = spec.refused;
    if (mapHas(events, path)) return mapGet(events, path);
    const ids = new NativeMap(); // listener → id
    const check = compileCall(spec.shown, spec.extra, false);
    const valid = listener => {
      if (typeof listener !== "function") throw new NativeError(`Invalid listener for ${spec.shown}.`);
    };
    const event = freeze({
      addListener(listener, ...extra) {
        valid(listener);
        const {text} = check(extra);
        refuseWords(path, extra);
        if (mapHas(ids, listener)) return;
        if (mapSize(listeners) >= mostListeners) throw new NativeError(`${spec.shown}: there are ${mostListeners} listeners, and no more are allowed.`);
        const id = nextListener++;
        mapSet(ids, listener, id);
        mapSet(listeners, id, {__proto__: null, listener, path, input: spec.input, extra});
        send(`["l","${path}",${id},true,${text}]`);
      },
      removeListener(listener) {
        valid(listener);
        const id = mapGet(ids, listener);
        if (id === undefined) return;
        mapDelete(ids, listener);
        mapDelete(listeners, id);
        send(`["l","${path}",${id},false]`);
      },
      hasListener(listener) {
        valid(listener);
        return mapHas(ids, listener);
      },
    });
    mapSet(events, path, event);
    return event;
  }

  // Call a listener. With a `number` the host waits for what it returns, or what the promise that it returns becomes.
  function tell(number, id, args) {
    const entry = mapGet(listeners, id);
    if (entry === undefined) return void (number && answer(number, true, undefined));
    let result;
    const invoke = invokers[entry.path];
    input = entry.input;
    try {
      preparers[entry.path]?.(args);
      result = invoke === undefined ? apply(entry.listener, undefined, args) : invoke(entry.listener, args, entry.extra);
    } catch (error) {
      report("listener", error);
      return void (number && refuse(number, error));
    } finally {
      input = false;
    }
    if (!number) return;
    if (!(result instanceof NativePromise)) return answer(number, true, result);
    promiseThen(result, value => { answer(number, true, value); }, error => {
      // Where members/ has a way of its own, a rejection is an answer like any other; else nobody else will tell of it.
      if (invoke === undefined) report("rejection", error);
      refuse(number, error);
    });
  }

  function answer(number, ok, value) {
    let text;
    try {
      text = encode(value);
      refuseLarge(text);
    } catch (error) {
      return refuse(number, error);
    }
    sendNow(`["a",${number},${ok},${text}]`);
  }

  function refuse(number, error) {
    sendNow(`["a",${number},false,${describe(error)}]`);
  }

  function report(kind, error) {
    sendNow(`["x","${kind}",${describe(error)}]`);
  }

  // ── Namespaces ──

  const browser = {};
  const members = create(null); // namespace → what its file in members/ made
  let shown = create(null); // top name → {text, object}: what `browser` has now

  const host = freeze({
    data,
    call(path, args) { return ask("c", `"${path}",${encode(args)}`).promise; },
    get lastError() {
      lastErrorSeen = true;
      return lastError;
    },
    report,
    url: path => data.base + (startsWith(path, "/") ? slice(path, 1) : path),
    encodeMessage,
    listen,
    tell: tellHost,
    ports: createPorts({tell: tellHost, listen, report}),
    // Make the call of a function of members/, as `made` says, with other arguments; they are JSON already.
    send(made, text, settle) {
      made.site; // now, while whoever called is still to be seen
      call(made.path, text, settle);
    },
    callBack(callback, ok, value, made) { callBack(callback ?? (() => {}), ok, value, made.returns, made.site); },
    errorOf: (made, message) => errorAt(made.site, message),
  });

  // Listen to an event that no script sees.
  function listen(path, listener, tellsInput = false) {
    const id = nextListener++;
    mapSet(listeners, id, {__proto__: null, listener, path, input: tellsInput});
    send(`["l","${path}",${id},true,[]]`);
  }

  // Ask for something with arguments that are JSON already; what becomes of it is told by an event, or by nobody.
  function tellHost(path, text) {
    request("c", `"${path}",${text}`, () => {});
  }

  function addMembers(namespace, make) {
    const made = make(host);
    members[namespace] = made;
    each(made.also ?? [], other => { members[other] = made; }); // the same under another name
    const invoked = objectKeys(made.events ?? {});
    for (let i = 0; i < invoked.length; i++) invokers[`${namespace}.${invoked[i]}`] = made.events[invoked[i]];
    const prepared = objectKeys(made.prepare ?? {});
    for (let i = 0; i < prepared.length; i++) preparers[`${namespace}.${prepared[i]}`] = made.prepare[prepared[i]];
  }

  // Show the namespaces of a description, and no others. What has not changed stays the object that it was.
  function show(description) {
    const tops = create(null);
    for (const namespace in members) if (members[namespace].always) topOf(tops, namespace);
    const names = objectKeys(description);
    for (let i = 0; i < names.length; i++) topOf(tops, names[i])[names[i]] = description[names[i]];
    const next = create(null);
    for (const top in tops) {
      const text = stringify(tops[top]);
      next[top] = shown[top]?.text === text ? shown[top] : {__proto__: null, text, object: namespaceOf(top, tops[top])};
      defineValue(browser, top, next[top].object, ENTRY);
    }
    for (const top in shown) if (!(top in next)) delete browser[top];
    shown = next;
  }

  function topOf(tops, namespace) {
    return tops[split(namespace, ".")[0]] ??= create(null);
  }

  // A namespace with those below it, such as storage with storage.local.
  function namespaceOf(path, specs) {
    const namespace = {};
    const spec = specs[path];
    if (spec !== undefined) fill(namespace, path, spec);
    if (path in members) copyMembers(namespace, path, spec);
    const below = create(null);
    for (const other in specs) {
      const rest = startsWith(other, `${path}.`) ? slice(other, path.length + 1) : null;
      if (rest !== null) below[split(rest, ".")[0]] = true;
    }
    for (const name in below) defineValue(namespace, name, namespaceOf(`${path}.${name}`, specs));
    return freeze(namespace);
  }

  function fill(namespace, path, spec) {
    const put = (names, make) => {
      each(objectKeys(names), name => { defineValue(namespace, name, make(`${path}.${name}`, names[name], name)); });
    };
    put(spec.events, eventOf);
    put(spec.constants, (_, value) => deepFreeze(value));
    each(objectKeys(spec.functions), name => {
      const called = spec.functions[name];
      if (called.async && !hasOwn(members[path]?.members ?? {}, name)) defineValue(namespace, name, functionOf(`${path}.${name}`, called));
    });
  }

  // What members/ adds: of functions, only those that the schema names, where there is a schema.
  function copyMembers(namespace, path, spec) {
    const own = members[path].members;
    each(objectKeys(own), name => {
      const property = getOwnPropertyDescriptor(own, name);
      if (typeof property.value === "function" && spec !== undefined && !hasOwn(spec.functions, name)) return;
      if (property.get) defineGetter(namespace, name, property.get, {__proto__: null, configurable: true});
      else if (spec === undefined || !hasOwn(spec.functions, name)) defineValue(namespace, name, property.value, ENTRY);
      else defineValue(namespace, name, localFunction(`${path}.${name}`, spec.functions[name], property.value), ENTRY);
    });
  }

  // A function of members/ behind the checks that its schema asks for. It gets one argument for each parameter, null
  // for what was left out; and then how it was called, with the arguments as they were, and as JSON.
  function localFunction(path, spec, own) {
    const check = compileCall(spec.shown, spec.parameters, spec.callback);
    const make = (...args) => {
      const {matched, text} = checked(check, args, make);
      const values = [];
      for (let i = 0; i < spec.parameters.length; i++) append(values, matched[i] ?? null);
      let site = null;
      append(values, {__proto__: null, path, args, text, returns: spec.returns, get site() { return site ??= callSite(make); }});
      return apply(own, undefined, values);
    };
    return disguised(make);
  }

  return {browser, show, addMembers, answered, tell, answer, refuse, report, ask, askApart};
}

function deepFreeze(value) {
  if (value !== null && typeof value === "object") {
    each(objectKeys(value), key => { deepFreeze(value[key]); });
    freeze(value);
  }
  return value;
}
