// `browser`, built from the description that the host sends. Sends calls, and receives results and events.
// Knows no namespace by name: code for one namespace is in members/, one file each.

import {
  NativeDOMException, NativeError, NativeMap, NativePromise, append, apply, captureStackTrace, create, defineGetter, defineValue, each, freeze, getOwnPropertyDescriptor, hasOwn, isArray,
  mapDelete, mapGet, mapHas, mapSet, mapSize, objectKeys, promiseThen, slice, split, startsWith, stringify,
} from "./primordials.js";
import {anyArguments, compileCall} from "./arguments.js";
import {callSite, describe, errorAt} from "./errors.js";
import {createPorts} from "./ports.js";
import {CALL, LISTENER, RESPONSE, UNCAUGHT} from "./protocol.js";
import {encode, encodeMessage, jsonText, refuseLarge} from "./values.js";

const MAX_IN_FLIGHT = 4096; // requests without a result; further ones wait in the memory of the extension process
// Scripts may replace and delete what is theirs, as in Firefox. The host trusts none of it.
const ENTRY = {__proto__: null, writable: true, enumerable: true, configurable: true};

const NOT_ENUMERABLE = {__proto__: null, enumerable: false, configurable: true};

// Give an API function the name and length that all of them have in Firefox.
function withFirefoxNameAndLength(apiFunction) {
  defineValue(apiFunction, "name", "", NOT_ENUMERABLE);
  return defineValue(apiFunction, "length", 1, NOT_ENUMERABLE);
}

// `isUserActive()` returns whether the user has just acted on the document, where the environment knows.
export function createBridge({pipe, data, maxListeners, isUserActive = () => false}) {
  const {send, sendNow} = pipe;

  // ── Requests to the host ──

  const pending = create(null); // id → settle(ok, value)
  const queue = new NativeMap(); // position → message, beyond MAX_IN_FLIGHT
  let nextId = 1;
  let inFlight = 0;
  let queueStart = 0;
  let queueEnd = 0;

  function request(kind, rest, settle) {
    refuseLarge(rest);
    const id = nextId++;
    pending[id] = settle;
    const message = `["${kind}",${id},${rest}]`;
    if (inFlight === 0) {
      inFlight = 1;
      sendNow(message); // a single call is not delayed for others to share its frame
    } else if (inFlight < MAX_IN_FLIGHT) {
      inFlight++;
      send(message);
    } else {
      mapSet(queue, queueEnd++, message);
    }
    return id;
  }

  function onResult(id, ok, value) {
    const settle = pending[id];
    if (settle === undefined) return;
    delete pending[id];
    if (queueStart < queueEnd) {
      send(mapGet(queue, queueStart));
      mapDelete(queue, queueStart++);
    } else {
      inFlight--;
    }
    settle(ok, value);
  }

  // A request of Hatbox's own code. The promise rejects with an error message.
  function requestPromise(kind, rest) {
    let id;
    const promise = new NativePromise((resolve, reject) => {
      id = request(kind, rest, (ok, value) => (ok ? resolve(value) : reject(value)));
    });
    return {__proto__: null, id, promise};
  }

  // A request that is not counted as in flight, for a caller that reads the result from the pipe. Returns the id.
  function requestUncounted(kind, rest) {
    refuseLarge(rest);
    const id = nextId++;
    sendNow(`["${kind}",${id},${rest}]`);
    return id;
  }

  // ── Calls ──

  let lastError = null;
  let lastErrorSeen = true;
  let userInput = false; // whether a user input handler runs

  function call(path, text, settle) {
    request(CALL, `"${path}",${text}${userInput || isUserActive() ? ",true" : ""}`, settle);
  }

  function createFunction(path, spec) {
    const check = spec.anyArguments ? anyArguments : compileCall(spec.shown, spec.parameters, spec.callback);
    const apiFunction = (...args) => {
      let ready;
      try {
        ready = checked(check, args, apiFunction);
      } catch (error) {
        if (!(error instanceof NativeDOMException)) throw error;
        return rejectClone(error, spec, args, apiFunction);
      }
      const {text, callback} = ready;
      let site = null; // captured after the call was sent: it takes a third of the time of a call
      if (callback !== null) {
        call(path, text, (ok, value) => { callBack(callback, ok, value, spec.returns, site); });
        site = callSite(apiFunction);
        return undefined;
      }
      const result = new NativePromise((resolve, reject) => {
        call(path, text, (ok, value) => {
          if (ok) resolve(spec.returns ? value : undefined);
          else reject(errorAt(site, value));
        });
      });
      site = callSite(apiFunction);
      return result;
    };
    return withFirefoxNameAndLength(apiFunction);
  }

  // As in Firefox, an argument that cannot be cloned rejects the promise, or sets lastError for the callback.
  function rejectClone(error, spec, args, apiFunction) {
    const rejected = new NativePromise((_, reject) => { reject(error); });
    const callback = spec.callback ? args[args.length - 1] : null;
    if (typeof callback !== "function") return rejected;
    const site = callSite(apiFunction);
    promiseThen(rejected, () => {}, () => { callBack(callback, false, error, spec.returns, site); });
    return undefined;
  }

  // Run check(). The stack of an error that it throws starts at the caller of `hidden`.
  function checked(check, args, hidden) {
    try {
      return check(args);
    } catch (error) {
      captureStackTrace(error, hidden);
      throw error;
    }
  }

  // As in Firefox: the callback of a failed call has no argument, and runtime.lastError is set while it runs.
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
  const events = new NativeMap(); // path → event object, which stays the same when its namespace is removed and added
  const invokers = create(null); // path → function of members/ that calls a listener
  const preparers = create(null); // path → function of members/ that converts the arguments of an event
  let nextListener = 1;

  const rejectedOptions = create(null); // path → options of addListener that need further permissions

  function rejectOptions(path, extra) {
    for (let i = 0; i < rejectedOptions[path].length; i++) {
      const {parameter, word, excludes, message} = rejectedOptions[path][i];
      const words = extra[parameter];
      if (hasWord(words, word) && (excludes === null || hasWord(words, excludes))) throw new NativeError(message);
    }
  }

  function hasWord(words, word) {
    for (let i = 0; isArray(words) && i < words.length; i++) if (words[i] === word) return true;
    return false;
  }

  function createEvent(path, spec) {
    rejectedOptions[path] = spec.refused;
    if (mapHas(events, path)) return mapGet(events, path);
    const ids = new NativeMap(); // listener → id
    const check = compileCall(spec.shown, spec.extra, false);
    const valid = listener => {
      if (typeof listener !== "function") throw new NativeError(`Invalid listener for ${spec.shown}.`);
    };
    const event = {
      addListener(listener, ...extra) {
        valid(listener);
        const {text} = check(extra);
        rejectOptions(path, extra);
        if (mapHas(ids, listener)) return;
        if (mapSize(listeners) >= maxListeners) throw new NativeError(`${spec.shown}: there are ${maxListeners} listeners, and no more are allowed.`);
        const id = nextListener++;
        mapSet(ids, listener, id);
        mapSet(listeners, id, {__proto__: null, listener, path, userInput: spec.input, extra});
        send(`["${LISTENER}","${path}",${id},true,${text}]`);
      },
      removeListener(listener) {
        valid(listener);
        const id = mapGet(ids, listener);
        if (id === undefined) return;
        mapDelete(ids, listener);
        mapDelete(listeners, id);
        send(`["${LISTENER}","${path}",${id},false]`);
      },
      hasListener(listener) {
        valid(listener);
        return mapHas(ids, listener);
      },
    };
    mapSet(events, path, event);
    return event;
  }

  // Call a listener. With a `number` the host waits for its return value, or the value of the promise that it returns.
  function onEvent(number, id, args) {
    const entry = mapGet(listeners, id);
    if (entry === undefined) return void (number && respond(number, undefined));
    let result;
    const invoke = invokers[entry.path];
    userInput = entry.userInput;
    try {
      preparers[entry.path]?.(args);
      result = invoke === undefined ? apply(entry.listener, undefined, args) : invoke(entry.listener, args, entry.extra);
    } catch (error) {
      report("listener", error);
      return void (number && respondError(number, error));
    } finally {
      userInput = false;
    }
    if (!number) return;
    if (!(result instanceof NativePromise)) return respond(number, result);
    promiseThen(result, value => { respond(number, value); }, error => {
      if (invoke === undefined) report("rejection", error); // with a function of members/, the host handles it
      respondError(number, error);
    });
  }

  function respond(number, value) {
    let text;
    try {
      text = encode(value);
      refuseLarge(text);
    } catch (error) {
      return respondError(number, error);
    }
    sendNow(`["${RESPONSE}",${number},true,${text}]`);
  }

  function respondError(number, error) {
    sendNow(`["${RESPONSE}",${number},false,${describe(error)}]`);
  }

  function report(kind, error) {
    sendNow(`["${UNCAUGHT}","${kind}",${describe(error)}]`);
  }

  // ── Namespaces ──

  const browser = {};
  const members = create(null); // namespace → members of its file in members/
  let visible = create(null); // top name → {text, object}: the properties of `browser`

  const host = freeze({
    data,
    call(path, args) { return requestPromise(CALL, `"${path}",${encode(args)}`).promise; },
    get lastError() {
      lastErrorSeen = true;
      return lastError;
    },
    report,
    url: path => data.base + (startsWith(path, "/") ? slice(path, 1) : path),
    encodeMessage,
    jsonText,
    listen,
    notify,
    ports: createPorts({notify, listen, report}),
    // Call a function as a user input handler. The host accepts that only if it has noted user input.
    withUserInput(callback) {
      const before = userInput;
      userInput = true;
      try {
        return callback();
      } finally {
        userInput = before;
      }
    },
    // Send the call of a function of members/ with other arguments, as JSON text.
    send(callInfo, text, settle) {
      callInfo.site; // captured now, while the caller is on the stack
      call(callInfo.path, text, settle);
    },
    callBack(callback, ok, value, callInfo) { callBack(callback ?? (() => {}), ok, value, callInfo.returns, callInfo.site); },
    errorOf: (callInfo, message) => errorAt(callInfo.site, message),
  });

  // Add a listener to an event that scripts do not see.
  function listen(path, listener, isUserInput = false) {
    const id = nextListener++;
    mapSet(listeners, id, {__proto__: null, listener, path, userInput: isUserInput});
    send(`["${LISTENER}","${path}",${id},true,[]]`);
  }

  // Make a call with arguments as JSON text, and ignore the result.
  function notify(path, text) {
    request(CALL, `"${path}",${text}`, () => {});
  }

  function addMembers(namespace, createMembers) {
    const implementation = createMembers(host);
    members[namespace] = implementation;
    each(implementation.also ?? [], other => { members[other] = implementation; }); // the same under another name
    const invoked = objectKeys(implementation.events ?? {});
    for (let i = 0; i < invoked.length; i++) invokers[`${namespace}.${invoked[i]}`] = implementation.events[invoked[i]];
    const prepared = objectKeys(implementation.prepare ?? {});
    for (let i = 0; i < prepared.length; i++) preparers[`${namespace}.${prepared[i]}`] = implementation.prepare[prepared[i]];
  }

  // Make `browser` have exactly the namespaces of a description. Unchanged namespaces stay the same objects.
  function updateNamespaces(description) {
    const tops = create(null);
    for (const namespace in members) if (members[namespace].always) topOf(tops, namespace);
    const names = objectKeys(description);
    for (let i = 0; i < names.length; i++) topOf(tops, names[i])[names[i]] = description[names[i]];
    const next = create(null);
    for (const top in tops) {
      const text = stringify(tops[top]);
      if (visible[top]?.text === text) {
        next[top] = visible[top];
        continue;
      }
      next[top] = {__proto__: null, text};
      defineValue(browser, top, createNamespace(top, tops[top]), ENTRY);
    }
    for (const top in visible) if (!(top in next)) delete browser[top];
    visible = next;
  }

  function topOf(tops, namespace) {
    return tops[split(namespace, ".")[0]] ??= create(null);
  }

  // A namespace with those below it, such as storage with storage.local.
  function createNamespace(path, specs) {
    const namespace = {};
    const spec = specs[path];
    if (spec !== undefined) fill(namespace, path, spec);
    if (path in members) copyMembers(namespace, path, spec);
    const below = create(null);
    for (const other in specs) {
      const rest = startsWith(other, `${path}.`) ? slice(other, path.length + 1) : null;
      if (rest !== null) below[split(rest, ".")[0]] = true;
    }
    for (const name in below) defineValue(namespace, name, createNamespace(`${path}.${name}`, specs), ENTRY);
    return namespace;
  }

  function fill(namespace, path, spec) {
    const put = (names, make) => {
      each(objectKeys(names), name => { defineValue(namespace, name, make(`${path}.${name}`, names[name], name), ENTRY); });
    };
    put(spec.events, createEvent);
    put(spec.constants, (_, value) => value);
    each(objectKeys(spec.functions), name => {
      const called = spec.functions[name];
      if (called.async && !hasOwn(members[path]?.members ?? {}, name)) defineValue(namespace, name, createFunction(`${path}.${name}`, called), ENTRY);
    });
  }

  // Add the members of members/. If the namespace has a schema, only functions that it declares.
  function copyMembers(namespace, path, spec) {
    const own = members[path].members;
    each(objectKeys(own), name => {
      if (isAbsent(path, name)) return;
      const property = getOwnPropertyDescriptor(own, name);
      if (typeof property.value === "function" && spec !== undefined && !hasOwn(spec.functions, name)) return;
      if (property.get) defineGetter(namespace, name, property.get, {__proto__: null, configurable: true});
      else if (spec === undefined || !hasOwn(spec.functions, name)) defineValue(namespace, name, property.value, ENTRY);
      else defineValue(namespace, name, createMemberFunction(`${path}.${name}`, spec.functions[name], property.value), ENTRY);
    });
  }

  function isAbsent(path, name) {
    const absent = members[path].absent ?? [];
    for (let i = 0; i < absent.length; i++) if (absent[i] === name) return true;
    return false;
  }

  // A function of members/ with its arguments checked by the schema. It gets one argument for each parameter, null if
  // absent, then an object that describes the call, with the original arguments and their JSON text.
  function createMemberFunction(path, spec, own) {
    const check = compileCall(spec.shown, spec.parameters, spec.callback);
    const apiFunction = (...args) => {
      const {matched, text} = checked(check, args, apiFunction);
      const values = [];
      for (let i = 0; i < spec.parameters.length; i++) append(values, matched[i] ?? null);
      let site = null;
      append(values, {__proto__: null, path, args, text, returns: spec.returns, get site() { return site ??= callSite(apiFunction); }});
      return apply(own, undefined, values);
    };
    return withFirefoxNameAndLength(apiFunction);
  }

  return {browser, updateNamespaces, addMembers, onResult, onEvent, respond, respondError, report, requestPromise, requestUncounted};
}
