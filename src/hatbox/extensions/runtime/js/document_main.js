// Builds `browser` in a document of Chromium, then handles the messages of the host. The entries are page_main.js for
// documents of extensions and content_main.js for content scripts. boot.mjs does the same in an extension process.

import {createBridge} from "./bridge.js";
import {showOrigin} from "./errors.js";
import {addBodyChunk, createFetch} from "./fetch.js";
import {createInbox} from "./inbox.js";
import {sendLog} from "./page_log.js";
import {createPipe} from "./page_pipe.js";
import {platformClass, types} from "./page_types.js";
import {BODY_CHUNK, CANCEL, EVENT, FLUSH, NAMESPACES, NO_OP, PING, PONG, READY, RESULT, SOCKET} from "./protocol.js";
import {create, defineValue, getOwnPropertyDescriptor, includes, join, parse, slice, split, uncurryThis} from "./primordials.js";
import {replaceSort} from "./sort.js";
import {decode, learnClasses, limitSizes} from "./values.js";

const MARKED = '"\\u0000';
const REPLACEABLE = {__proto__: null, writable: true, configurable: true};
const {scheduler, navigator} = globalThis;
const postTask = uncurryThis(scheduler.postTask);
const URGENT = {__proto__: null, priority: "user-blocking"};
const {userActivation} = navigator;
const isActive = uncurryThis(getOwnPropertyDescriptor(UserActivation.prototype, "isActive").get);
const nativeFetch = globalThis.fetch.bind(globalThis);

// Run `job` as a task of its own, before timers and input.
const later = job => { postTask(scheduler, job, URGENT); };

// `post` is the native function of the binding; `settings` are those of script_bundle.page_settings(), parsed; `members`
// are the functions of members/ by namespace; `createSockets` is createWebSockets() of websocket.js if settings may replace
// WebSocket. Returns the function that the host calls.
export function start(post, settings, members, createSockets) {
  const {data, description, maxBytes, maxValues, listeners, origin, network, gated} = settings;
  limitSizes(maxBytes, maxValues);
  learnClasses(types, platformClass);
  showOrigin(origin, data.base);
  const pipe = createPipe({post, spell: origin === null ? undefined : spelling(origin, data.base), gated});
  const bridge = createBridge({pipe, data, maxListeners: listeners, isUserActive: () => isActive(userActivation)});
  const sockets = network === null ? null : replaceNetwork({pipe, bridge, data, maxBytes, network, createSockets});
  replaceSort();
  for (const namespace in members) bridge.addMembers(namespace, members[namespace]);
  bridge.updateNamespaces(description);
  // Replaceable, as in Firefox: `const browser = globalThis.browser ?? chrome`.
  defineValue(globalThis, "browser", bridge.browser, REPLACEABLE);
  defineValue(globalThis, "chrome", bridge.browser, REPLACEABLE);
  const receive = createInbox({handle: handlerOf({pipe, bridge, sockets}), later, settle: null});
  // In a task of its own, because CDP allows eval() during its calls, whatever the policy of the page says.
  pipe.start(message => { later(() => { receive(parsed(message), true); }); });
  if (gated) {
    sendLog({pipe, report: bridge.report});
    post(`[["${READY}"]]`);
  }
  return pipe.receive;
}

// Texts that start with the origin in Chromium, such as location.href, are sent as Firefox spells them. Both origins end
// with a slash.
function spelling(origin, base) {
  const start = `"${slice(origin, 0, -1)}`;
  return text => {
    if (!includes(text, start)) return text;
    const withPath = join(split(text, `${start}/`), `"${base}`);
    return join(split(withPath, `${start}"`), `"${slice(base, 0, -1)}"`);
  };
}

export function parsed(text) {
  const value = parse(text);
  return includes(text, MARKED) ? decode(value) : value;
}

function handlerOf({pipe, bridge, sockets}) {
  const handlers = create(null);
  handlers[RESULT] = (_, id, ok, value) => { bridge.onResult(id, ok, value); };
  handlers[EVENT] = (_, number, listener, args) => { bridge.onEvent(number, listener, args); };
  handlers[SOCKET] = (_, number, kind, fields) => { sockets?.handle(number, kind, fields); };
  handlers[BODY_CHUNK] = (_, id, chunk) => { addBodyChunk(id, chunk); };
  handlers[PING] = (_, number) => { pipe.sendFirst(`["${PONG}",${number}]`); };
  handlers[NAMESPACES] = (_, description) => { bridge.updateNamespaces(description); };
  handlers[FLUSH] = (_, number) => { bridge.respond(number, null); }; // after all messages sent so far
  handlers[NO_OP] = () => {};
  return message => {
    try {
      handlers[message[0]](message[0], message[1], message[2], message[3]);
    } catch (error) { // a script has broken a global that Hatbox needs: handle the next message nevertheless
      bridge.report("error", error);
    }
  };
}

// Replace what reaches the network without the host: `network` names the members that are replaced.
function replaceNetwork({pipe, bridge, data, maxBytes, network, createSockets}) {
  if (network.fetch) {
    const cancel = id => { pipe.send(`["${CANCEL}",${id}]`); };
    const fetch = createFetch({base: data.page, nativeFetch, request: bridge.requestPromise, cancel});
    defineValue(globalThis, "fetch", fetch, {__proto__: null, writable: true, enumerable: true, configurable: true});
  }
  if (!network.webSocket) return null;
  const sockets = createSockets({base: data.page, send: pipe.send, isArrayBuffer: types.isArrayBuffer, maxBytes});
  defineValue(globalThis, "WebSocket", sockets.WebSocket, {__proto__: null, writable: true, enumerable: false, configurable: true});
  return sockets;
}
