// `browser`: the API of Hatbox for this page, over the messages of the extension bridge. `connection`: its state.

import {thousands} from "./numbers.js";
import {PageSession} from "./page_session.js";
import {encodeArguments} from "./wire_values.js";

const [CALL, LISTENER, RESULT, EVENT] = ["c", "l", "r", "e"]; // as in hatbox/extensions/runtime/protocol.py

// The error of a call that was done before the server was killed, as in hatbox/ui/page_calls.py. Its result is lost.
const DONE = "This was done just before Hatbox was started again. Its result is not known any more.";

const CHECK_TIME = 10_000; // milliseconds
// Codes with which the server closes a connection.
const TOO_MANY_PAGES = 1013;
const NOT_PROVEN = 4403; // a page whose tab has not the key of this server needs a new link

// Calls that change nothing for the user: the page may be closed while they wait.
const READS = new Set(
  "list summaries order search details checkSettings preview test cookies value curl exportFile log forget recorded sources".split(" "),
);
const isRead = (path) => READS.has(path.split(".").at(-1)) || /\.get[A-Z]\w*$/.test(path);

const base = new URL(".", document.baseURI);
const calls = new Map(); // id → {message, resolve, reject}
const listeners = new Map(); // id → {path, extra, listener}
const statusListeners = new Set();
const resyncListeners = new Set();
let lastCall = 0;
let lastListener = 0;
let refused = false;
let full = false;
let stopped = false;

const KEY = "hatbox.key"; // as in hatbox/ui/web_app.py

const session = new PageSession({
  id: crypto.randomUUID(),
  key: sessionStorage.getItem(KEY) ?? "",
  open: () => new WebSocket(new URL("bridge", base).href.replace(/^http/, "ws")),
  receive,
  replay: () => {
    const events = [...listeners].map(([id, each]) => added(id, each));
    return [...events, ...[...calls.values()].map((each) => each.message)];
  },
  onTooLarge: refuse,
  onStatus: notifyStatus,
  onResync: () => { for (const each of resyncListeners) report(each); },
  onClosed: findReason,
});

export const connection = {
  get online() { return session.online && !session.silent; },
  // Whether the server is connected, and does not answer.
  get silent() { return session.silent; },
  // Whether the server is running and does not accept this page any more: run `hatbox ui` again.
  get refused() { return refused; },
  // Whether no page of a link was in this tab, nor in that from which it was opened.
  get unlinked() { return !session.key; },
  // Whether as many pages are open as the server allows.
  get full() { return full; },
  // Whether nothing accepts connections: Hatbox was stopped or killed.
  get stopped() { return stopped; },
  // How many changes of the user are not confirmed yet.
  get waitingChanges() { return [...calls.values()].filter(({message}) => !isRead(message[2])).length; },
  // Call `listener(online)` when the state changes. Returns a function that removes it.
  onStatus: (listener) => subscribed(statusListeners, listener),
  // Call `listener()` after events were lost: load everything again. Returns a function that removes it.
  onResync: (listener) => subscribed(resyncListeners, listener),
  // Connect now, and not after a delay.
  retry: () => { session.connect(); },
};

// browser.hatbox.sites.list(…) sends a call and returns a promise. Names that start with on are events.
export const browser = member("");

session.connect();
addEventListener("online", () => session.connect());
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  session.connect();
  session.probe();
});
setInterval(() => { if (!document.hidden) session.probe(); }, CHECK_TIME); // "Live" is true, also if nothing happens

function member(path) {
  const members = new Map();
  return new Proxy(() => {}, {
    get(_, name) {
      if (typeof name !== "string" || name === "then") return undefined;
      if (!members.has(name)) {
        const full = path ? `${path}.${name}` : name;
        members.set(name, /^on[A-Z]/.test(name) ? event(full) : member(full));
      }
      return members.get(name);
    },
    apply: (_, __, values) => call(path, values),
  });
}

function call(path, values) {
  return new Promise((resolve, reject) => {
    const id = ++lastCall;
    const message = [CALL, id, path, encodeArguments(values)];
    calls.set(id, {message, resolve, reject});
    session.send(message);
  });
}

function event(path) {
  const ids = new Map(); // listener → id
  return {
    addListener(listener, ...extra) {
      if (ids.has(listener)) return;
      const id = ++lastListener;
      const each = {path, extra: encodeArguments(extra), listener};
      ids.set(listener, id);
      listeners.set(id, each);
      session.send(added(id, each));
    },
    removeListener(listener) {
      const id = ids.get(listener);
      if (id === undefined) return;
      ids.delete(listener);
      listeners.delete(id);
      session.send([LISTENER, path, id, false]);
    },
    hasListener: (listener) => ids.has(listener),
  };
}

function added(id, {path, extra}) {
  return [LISTENER, path, id, true, extra];
}

function receive(messages) {
  for (const [kind, id, ...fields] of messages) {
    if (kind === RESULT) settle(id, ...fields);
    else if (kind === EVENT) {
      const found = listeners.get(fields[0]);
      if (found) report(found.listener, ...fields[1]);
    }
  }
}

// kind: the class of an error, as in hatbox/errors.py.
function settle(id, ok, value, kind = "") {
  const found = calls.get(id);
  if (!found) return;
  calls.delete(id);
  if (ok) found.resolve(value);
  else found.reject(Object.assign(new Error(value), {wasDone: value === DONE, kind}));
}

// A call that the server would not accept: it is not sent.
function refuse(id, bytes) {
  const text = `This has ${thousands(Math.ceil(bytes / 2 ** 20))} MB, more than Hatbox accepts from this page at a time.`;
  settle(id, false, `${text} Send less at a time, or use the command hatbox in a terminal.`, "MessageTooLarge");
}

function subscribed(all, listener) {
  all.add(listener);
  return () => { all.delete(listener); };
}

function notifyStatus() {
  if (session.online) {
    refused = full = stopped = false;
    sessionStorage.setItem(KEY, session.key); // also that of a server that was started again: the page may be reloaded
  }
  for (const each of statusListeners) report(each, connection.online);
}

// A WebSocket does not say why it was refused, a request does.
async function findReason(code) {
  const before = [refused, full, stopped].join();
  full = code === TOO_MANY_PAGES;
  const status = await fetch(base, {method: "HEAD", cache: "no-store"}).then((each) => each.status, () => 0);
  refused = status === 403 || code === NOT_PROVEN;
  stopped = status === 0 && !session.online;
  if ([refused, full, stopped].join() !== before) notifyStatus();
}

// Call a listener. Its error is reported, and the next one is called.
function report(listener, ...values) {
  try {
    listener(...values);
  } catch (error) {
    reportError(error);
  }
}
