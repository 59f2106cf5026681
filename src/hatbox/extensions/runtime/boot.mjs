// The child's first and only file that Deno itself loads: puts the parts together, then does what the host says.
// When it has read the host's first frame, everything of Deno's own is out of the reach of scripts.

import vm from "node:vm";
import {types} from "node:util";

import {createBridge} from "./bridge.js";
import {createBroadcastChannel} from "./broadcast.js";
import {createConsole} from "./console.js";
import {createFetch, takePiece} from "./fetch.js";
import {shapeGlobals} from "./globals.js";
import {createInbox} from "./inbox.js";
import {createLoader} from "./loader.js";
import {createPipe} from "./pipe.js";
import {defineValue, includes, parse, promiseThen, slice, stringify} from "./primordials.js";
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
const write = stdout.writeSync.bind(stdout);
const pipe = createPipe({read, write, exit});

let bridge = null;
let loader = null;
let sockets = null;

const handlers = {
  __proto__: null,
  r: (_, id, ok, value) => { bridge.answered(id, ok, value); },
  e: (_, number, listener, args) => { bridge.tell(number, listener, args); },
  w: (_, number, what, details) => { sockets.told(number, what, details); },
  b: (_, id, piece) => { takePiece(id, piece); },
  ping: (_, number) => { pipe.sendNow(`["pong",${number}]`); },
  show: (_, description) => { bridge.show(description); },
  script: (_, number, url, source) => { attempt(number, () => { loader.compileScript(url, source)(); }); },
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
  let messages = parse(text);
  if (includes(text, MARKED)) messages = decode(messages);
  receive(messages, fresh);
});

function boot({data, description, listeners, members, navigator, largest, localStorage, parts, polyfills}) {
  limitSizes(largest, parts);
  bridge = createBridge({pipe, data, mostListeners: listeners});
  const show = value => inspect(value, {depth: 4, colors: false, strAbbreviateSize: 10000});
  const fetchSource = url => bridge.ask("s", stringify(url)).promise;
  loader = createLoader({vm, base: data.base, fetchSource});
  const console = createConsole({ // each line at once: the last one before a crash is the one that is wanted
    inspect: show,
    emit: (level, text, place) => { pipe.sendNow(`["log","${level}",${stringify(text)},${place === null ? "null" : stringify(place)}]`); },
  });
  const fetch = createFetch({base: data.page, nativeFetch, ask: bridge.ask, cancel: id => { pipe.send(`["k",${id}]`); }});
  sockets = createWebSockets({base: data.page, send: pipe.send, isArrayBuffer: types.isArrayBuffer, largest});
  const storages = localStorage === null ? null : createStorages({entries: localStorage, send: pipe.send});
  const BroadcastChannel = createBroadcastChannel({origin: slice(data.base, 0, -1), later: job => { start(job, 0); }});
  shapeGlobals({url: data.page, navigator, fetch, console, storages, classes: {WebSocket: sockets.WebSocket, BroadcastChannel}});
  for (const {namespace, source, url} of members) bridge.addMembers(namespace, loader.compileScript(url, source)());
  bridge.show(description);
  defineValue(globalThis, "browser", bridge.browser);
  defineValue(globalThis, "chrome", bridge.browser);
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
