// The main module of the extension process: connects the parts, then handles the messages of the host.
// After the first frame of the host, Deno's own APIs are out of reach of scripts.

import vm from "node:vm";
import {types} from "node:util";

import {createBridge} from "./bridge.js";
import {createBroadcastChannel} from "./broadcast.js";
import {createConsole} from "./console.js";
import {limitJobs} from "./crypto_jobs.js";
import {addBodyChunk, createFetch} from "./fetch.js";
import {shapeGlobals} from "./globals.js";
import {createImportScripts, rejectImportScripts} from "./import_scripts.js";
import {createInbox} from "./inbox.js";
import {createLoader} from "./loader.js";
import {createPipe} from "./pipe.js";
import * as protocol from "./protocol.js";
import {
  BODY_CHUNK, BOOT, CANCEL, EVALUATE, EVENT, FLUSH, LOADED, LOCAL_STORAGE, LOG, NAMESPACES, NO_OP, PING, PONG, READY, READ_SOURCE, RESULT, RUN_MODULE, RUN_SCRIPT,
  RUN_WORKER, SOCKET,
} from "./protocol.js";
import * as primordials from "./primordials.js";
import {append, defineValue, includes, parse, promiseThen, slice, stringify} from "./primordials.js";
import {replaceSort} from "./sort.js";
import {filterStacks} from "./stacks.js";
import {createStorages} from "./storage.js";
import * as values from "./values.js";
import {decode, learnClasses, limitSizes} from "./values.js";
import {createWebSockets} from "./websocket.js";

const {stdin, stdout, exit, inspect} = Deno;
const {nextTick} = process;
const runMicrotasks = Deno[Deno.internal]?.core?.runMicrotasks ?? null; // without it each event takes a turn of the event loop
const nativeFetch = globalThis.fetch;
const {setImmediate, setTimeout} = globalThis;
const NativeSyntaxError = SyntaxError;
const MARKED = '"\\u0000';

const read = stdin.read.bind(stdin);
const readSync = stdin.readSync.bind(stdin);
const write = stdout.writeSync.bind(stdout);
const pipe = createPipe({read, readSync, write, exit});

let bridge = null;
let loader = null;
let sockets = null;
let storages = null;
let imports = null; // importScripts() of a classic service worker
let awaitsWorker = false; // whether its script has not been received yet

const handlers = {
  __proto__: null,
  [RESULT]: (_, id, ok, value) => { bridge.onResult(id, ok, value); },
  [EVENT]: (_, number, listener, args) => { bridge.onEvent(number, listener, args); },
  [SOCKET]: (_, number, kind, fields) => { sockets.handle(number, kind, fields); },
  [BODY_CHUNK]: (_, id, chunk) => { addBodyChunk(id, chunk); },
  [PING]: (_, number) => { pipe.sendNow(`["${PONG}",${number}]`); },
  [NAMESPACES]: (_, description) => { bridge.updateNamespaces(description); },
  [RUN_SCRIPT]: (_, number, url, source) => { attempt(number, () => { loader.compileScript(url, source)(); }); },
  [RUN_WORKER]: (_, number, url, source) => { nextTick(() => { attempt(number, () => { runWorker(url, source); }); }); },
  [RUN_MODULE]: (_, number, url) => { attempt(number, async () => { await loader.runModule(url); }); },
  [EVALUATE]: (_, number, source, format) => { attempt(number, () => evaluate(source, format)); },
  [FLUSH]: (_, number) => { bridge.respond(number, null); }, // after all messages sent so far
  [NO_OP]: () => {},
  [LOCAL_STORAGE]: (_, key, value) => { storages?.receive(key, value); }, // a page has changed it
  [LOADED]: () => { dispatchEvent(new Event("load")); },
  [BOOT]: (_, settings) => { boot(settings); },
};

const receive = createInbox({
  handle(message) {
    try {
      handlers[message[0]](message[0], message[1], message[2], message[3]);
    } catch (error) { // a script has broken a global that Hatbox needs: handle the next message nevertheless
      if (bridge === null) throw error;
      bridge.report("error", error);
    }
  },
  later: nextTick,
  settle: runMicrotasks,
});

learnClasses(types);
filterStacks();
pipe.start((text, fresh) => {
  const messages = messagesIn(text);
  if (awaitsWorker) pauseForWorker(messages);
  receive(messages, fresh);
});

function messagesIn(text) {
  const messages = parse(text);
  return includes(text, MARKED) ? decode(messages) : messages;
}

// While the worker's script runs, only importScripts() reads from the pipe: a pending read cannot be cancelled.
function pauseForWorker(messages) {
  for (let i = 0; i < messages.length; i++) {
    if (messages[i][0] !== RUN_WORKER) continue;
    awaitsWorker = false;
    pipe.pause();
  }
}

function runWorker(url, source) {
  imports.start(url);
  setTimeout(() => { // after the microtasks of the script
    imports.end();
    pipe.resume();
  }, 0);
  loader.compileScript(url, source)();
}

// Throw RangeError if the stack is nearly full: while a frame is read, it would leave half of the frame unread.
function stackHasRoom(calls) {
  return calls === 0 || !!stackHasRoom(calls - 1);
}

// Read the text of a file synchronously; null if it does not exist. Other messages are handled after the script.
function readSourceSync(url) {
  stackHasRoom(1000);
  const id = bridge.requestUncounted(READ_SOURCE, stringify(url));
  let source = null;
  pipe.wait(text => {
    const messages = messagesIn(text);
    const others = [];
    let found = false;
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message[0] === RESULT && message[1] === id) {
        found = true;
        source = message[2] ? message[3] : null;
      } else {
        append(others, message);
      }
    }
    if (others.length > 0) receive.later(others);
    return found;
  });
  return source;
}

function boot({data, description, indexedDb, jobs, listeners, members, navigator, maxBytes, localStorage, maxValues, polyfills, worker}) {
  limitSizes(maxBytes, maxValues);
  limitJobs({max: jobs, isArrayBuffer: types.isArrayBuffer});
  bridge = createBridge({pipe, data, maxListeners: listeners});
  const show = value => inspect(value, {depth: 4, colors: false, strAbbreviateSize: 10000});
  const fetchSource = url => bridge.requestPromise(READ_SOURCE, stringify(url)).promise;
  loader = createLoader({vm, base: data.base, fetchSource});
  awaitsWorker = worker === "classic";
  if (awaitsWorker) imports = createImportScripts({base: data.base, compileScript: loader.compileScript, readSourceSync});
  const importScripts = awaitsWorker ? imports.importScripts : worker === "module" ? rejectImportScripts() : null;
  const console = createConsole({ // sent at once: the last message before a crash is the important one
    inspect: show,
    emit: (level, text, location) => { pipe.sendNow(`["${LOG}","${level}",${stringify(text)},${location === null ? "null" : stringify(location)}]`); },
  });
  const fetch = createFetch({base: data.page, nativeFetch, request: bridge.requestPromise, cancel: id => { pipe.send(`["${CANCEL}",${id}]`); }});
  sockets = createWebSockets({base: data.page, send: pipe.send, isArrayBuffer: types.isArrayBuffer, maxBytes});
  storages = localStorage === null ? null : createStorages({entries: localStorage, send: pipe.send, page: data.page});
  const BroadcastChannel = createBroadcastChannel({origin: slice(data.base, 0, -1), later: job => { setTimeout(job, 0); }});
  const createDatabases = () => { // few scripts use them
    const {createIndexedDb} = loader.compileScript(indexedDb.url, indexedDb.source)()(primordials, protocol, values);
    return createIndexedDb({request: bridge.requestPromise, later: job => { setImmediate(job); }, nextTick, runMicrotasks});
  };
  replaceSort();
  shapeGlobals({
    url: data.page, navigator, fetch, importScripts, console, storages, createDatabases, classes: {WebSocket: sockets.WebSocket, BroadcastChannel},
  });
  for (const {namespace, source, url} of members) bridge.addMembers(namespace, loader.compileScript(url, source)());
  bridge.updateNamespaces(description);
  // Replaceable, as in Firefox: `const browser = globalThis.browser ?? chrome`.
  const replaceable = {__proto__: null, writable: true, configurable: true};
  defineValue(globalThis, "browser", bridge.browser, replaceable);
  defineValue(globalThis, "chrome", bridge.browser, replaceable);
  // Without preventDefault() either of these would end the process.
  addEventListener("error", event => {
    event.preventDefault();
    bridge.report("error", event.error ?? event.message);
  });
  addEventListener("unhandledrejection", event => {
    event.preventDefault();
    bridge.report("rejection", event.reason);
  });
  for (const {url, source} of polyfills) loader.compileScript(url, source)();
  evaluate.inspect = show;
  evaluateUrl = `${data.base}evaluated`;
  pipe.sendNow(`["${READY}"]`);
}

// Run a job for the host, and respond with its result. A promise is awaited.
function attempt(number, job) {
  let result;
  try {
    result = job();
  } catch (error) {
    return bridge.respondError(number, error);
  }
  if (!types.isPromise(result)) return bridge.respond(number, result);
  promiseThen(result, value => { bridge.respond(number, value); }, error => { bridge.respondError(number, error); });
}

let evaluateUrl = null; // the URL of code that the host evaluates

// Evaluate an expression or statements. `await` is allowed; statements return a value with `return`. The result is text:
// JSON, or the output of inspect().
async function evaluate(source, format) {
  const value = await compile(source)();
  if (format === "inspect") return evaluate.inspect(value);
  return stringify(value) ?? "null";
}

function compile(source) {
  try {
    return loader.compileScript(evaluateUrl, source);
  } catch (error) {
    if (!(error instanceof NativeSyntaxError)) throw error;
  }
  try {
    return loader.compileScript(evaluateUrl, `(async () => (${source}\n))()`);
  } catch (error) {
    if (!(error instanceof NativeSyntaxError)) throw error;
  }
  try {
    return loader.compileScript(evaluateUrl, `(async () => {${source}\n})()`);
  } catch (error) {
    if (error instanceof NativeSyntaxError) loader.check(evaluateUrl, source); // throws the error of the original source
    throw error;
  }
}
