// The child's first and only file that Deno itself loads: puts the parts together, then does what the host says.
// When it has read the host's first frame, everything of Deno's own is out of the reach of scripts.

import vm from "node:vm";
import {types} from "node:util";

import {createBridge} from "./bridge.js";
import {createBroadcastChannel} from "./broadcast.js";
import {createConsole} from "./console.js";
import {limitJobs} from "./crypto_jobs.js";
import {createFetch, takePiece} from "./fetch.js";
import {shapeGlobals} from "./globals.js";
import {createImportScripts, refuseImportScripts} from "./import_scripts.js";
import {createInbox} from "./inbox.js";
import {createLoader} from "./loader.js";
import {createPipe} from "./pipe.js";
import {append, defineValue, includes, parse, promiseThen, slice, stringify} from "./primordials.js";
import {keepStacksClean} from "./stacks.js";
import {createStorages} from "./storage.js";
import {decode, learnClasses, limitSizes} from "./values.js";
import {createWebSockets} from "./websocket.js";

const {stdin, stdout, exit, inspect} = Deno;
const {nextTick} = process;
const runMicrotasks = Deno[Deno.internal]?.core?.runMicrotasks ?? null; // without it each event costs a turn of the loop
const nativeFetch = globalThis.fetch;
const start = globalThis.setTimeout;
const SyntaxProblem = SyntaxError;
const MARKED = '"\\u0000';

const read = stdin.read.bind(stdin);
const readSync = stdin.readSync.bind(stdin);
const write = stdout.writeSync.bind(stdout);
const pipe = createPipe({read, readSync, write, exit});

let bridge = null;
let loader = null;
let sockets = null;
let imports = null; // of a classic service worker
let awaited = false; // whether the script of one is still to come

const handlers = {
  __proto__: null,
  r: (_, id, ok, value) => { bridge.answered(id, ok, value); },
  e: (_, number, listener, args) => { bridge.tell(number, listener, args); },
  w: (_, number, what, details) => { sockets.told(number, what, details); },
  b: (_, id, piece) => { takePiece(id, piece); },
  ping: (_, number) => { pipe.sendNow(`["pong",${number}]`); },
  show: (_, description) => { bridge.show(description); },
  script: (_, number, url, source) => { attempt(number, () => { loader.compileScript(url, source)(); }); },
  worker: (_, number, url, source) => { nextTick(() => { attempt(number, () => { runWorker(url, source); }); }); },
  module: (_, number, url) => { attempt(number, async () => { await loader.runModule(url); }); },
  evaluate: (_, number, source, how) => { attempt(number, () => evaluate(source, how)); },
  flush: (_, number) => { bridge.answer(number, true, null); }, // behind all that was sent before
  nothing: () => {},
  loaded: () => { dispatchEvent(new Event("load")); },
  boot: (_, settings) => { boot(settings); },
};

const receive = createInbox({
  handle(message) {
    try {
      handlers[message[0]](message[0], message[1], message[2], message[3]);
    } catch (error) { // a script has broken what even we need: the next message comes nevertheless
      if (bridge === null) throw error;
      bridge.report("error", error);
    }
  },
  later: nextTick,
  settle: runMicrotasks,
});

learnClasses(types);
keepStacksClean();
pipe.start((text, fresh) => {
  const messages = messagesIn(text);
  if (awaited) holdForWorker(messages);
  receive(messages, fresh);
});

function messagesIn(text) {
  const messages = parse(text);
  return includes(text, MARKED) ? decode(messages) : messages;
}

// While the worker's script runs, it alone reads from the pipe: a read that is under way cannot be taken back.
function holdForWorker(messages) {
  for (let i = 0; i < messages.length; i++) {
    if (messages[i][0] !== "worker") continue;
    awaited = false;
    pipe.hold();
  }
}

function runWorker(url, source) {
  imports.begin(url);
  start(() => { // after all that the script sets going without waiting for anybody
    imports.end();
    pipe.release();
  }, 0);
  loader.compileScript(url, source)();
}

// Throws RangeError now if the stack is nearly full: in the middle of a frame it would leave half of it unread.
function stackHasRoom(calls) {
  return calls === 0 || !!stackHasRoom(calls - 1);
}

// The text of a file, or null, before the script goes on. All else that comes meanwhile is handled when it has run.
function sourceNow(url) {
  stackHasRoom(1000);
  const id = bridge.askApart("s", stringify(url));
  let source = null;
  pipe.wait(text => {
    const messages = messagesIn(text);
    const others = [];
    let found = false;
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message[0] === "r" && message[1] === id) {
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

function boot({data, description, jobs, listeners, members, navigator, largest, localStorage, parts, polyfills, worker}) {
  limitSizes(largest, parts);
  limitJobs({most: jobs, isArrayBuffer: types.isArrayBuffer});
  bridge = createBridge({pipe, data, mostListeners: listeners});
  const show = value => inspect(value, {depth: 4, colors: false, strAbbreviateSize: 10000});
  const fetchSource = url => bridge.ask("s", stringify(url)).promise;
  loader = createLoader({vm, base: data.base, fetchSource});
  awaited = worker === "classic";
  if (awaited) imports = createImportScripts({base: data.base, compileScript: loader.compileScript, sourceNow});
  const importScripts = awaited ? imports.importScripts : worker === "module" ? refuseImportScripts() : null;
  const console = createConsole({ // each line at once: the last one before a crash is the one that is wanted
    inspect: show,
    emit: (level, text, place) => { pipe.sendNow(`["log","${level}",${stringify(text)},${place === null ? "null" : stringify(place)}]`); },
  });
  const fetch = createFetch({base: data.page, nativeFetch, ask: bridge.ask, cancel: id => { pipe.send(`["k",${id}]`); }});
  sockets = createWebSockets({base: data.page, send: pipe.send, isArrayBuffer: types.isArrayBuffer, largest});
  const storages = localStorage === null ? null : createStorages({entries: localStorage, send: pipe.send});
  const BroadcastChannel = createBroadcastChannel({origin: slice(data.base, 0, -1), later: job => { start(job, 0); }});
  shapeGlobals({
    url: data.page, navigator, fetch, importScripts, console, storages, classes: {WebSocket: sockets.WebSocket, BroadcastChannel},
  });
  for (const {namespace, source, url} of members) bridge.addMembers(namespace, loader.compileScript(url, source)());
  bridge.show(description);
  // As in Firefox a script may have names of its own for them: `const browser = globalThis.browser ?? chrome`.
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
  evaluated = `${data.base}evaluated`;
  pipe.sendNow('["ready"]');
}

// Do something for the host, which is told how it went; a promise counts when it is settled.
function attempt(number, job) {
  let result;
  try {
    result = job();
  } catch (error) {
    return bridge.refuse(number, error);
  }
  if (!types.isPromise(result)) return bridge.answer(number, true, result);
  promiseThen(result, value => { bridge.answer(number, true, value); }, error => { bridge.refuse(number, error); });
}

let evaluated = null; // the URL of code that the host evaluates

// An expression, or statements; `await` may stand anywhere, and then `return` gives the result. As text: JSON, or for
// people.
async function evaluate(source, how) {
  const value = await compile(source)();
  if (how === "inspect") return evaluate.inspect(value);
  return stringify(value) ?? "null";
}

function compile(source) {
  try {
    return loader.compileScript(evaluated, source);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
  }
  try {
    return loader.compileScript(evaluated, `(async () => (${source}\n))()`);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
  }
  try {
    return loader.compileScript(evaluated, `(async () => {${source}\n})()`);
  } catch (error) {
    if (error instanceof SyntaxProblem) loader.check(evaluated, source); // throws what is wrong with it as it was written
    throw error;
  }
}
