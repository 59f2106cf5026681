// What an extension sees when it sends messages and opens ports, in Firefox and in Hatbox: the body of a function that
// returns [name, what came of it] for each case. The other extension is messages_peer.js.

const PEER = "peer@example.org";
const {runtime, tabs, extension, management} = browser;

const shown = value => {
  if (value === undefined) return "$undefined";
  return value === null || typeof value !== "object" ? value : JSON.parse(JSON.stringify(value, (key, each) => {
    if (each === undefined) return "$undefined";
    if (key === "contextId" || key === "documentId") return `${each}`[0] === "$" ? each : `$${typeof each}`;
    return typeof each === "string"
      ? each.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "$uuid").replaceAll(runtime.id, "$probe") : each;
  }));
};

const say = (way, more = {}) => runtime.sendMessage(PEER, {way, ...more});

// ── Answers ──

for (const way of [
  "respond", "respondTwice", "respondNothing", "respondNull", "respondLater", "respondTooLate", "respondAndTrue",
  "respondAndPromise", "respondAndThrow", "respondFunction", "whatRespondReturns", "returnValue", "returnFalse", "returnOne",
  "returnNothing", "returnThenable", "promise", "promiseOfNothing", "async", "throwError", "throwTypeError", "throwText",
  "throwObject", "throwNothing", "reject", "rejectText", "rejectObject", "rejectNumber", "sender", "arguments", "both",
  "slowFirst", "throwFirst",
]) await probe(`answer: ${way}`, () => say(way, {value: {a: [1, "x", null]}}));

// ── Arguments ──

for (const [name, ...args] of [
  ["none"], ["undefined", undefined], ["null", null], ["text", "hello"], ["id, text", PEER, "hello"], ["id, {}", PEER, {}],
  ["id, null", PEER, null], ["id, undefined", PEER, undefined], ["id, {}, {}", PEER, {}, {}], ["id, null, {}", PEER, null, {}],
  ["id, undefined, null", PEER, undefined, null], ["null, text, null", null, "text", null], ["id, text, options", PEER, "m", {a: 1}],
  ["id, text, 5", PEER, "m", 5], ["object, object", {a: 1}, {b: 1}], ["5, text", 5, "m"], ["0, text", 0, "m"], ["'', text", "", "m"],
  ["four", PEER, "m", {}, 5], ["four, null", PEER, "m", {}, null], ["five", PEER, "m", {}, null, 1], ["id, []", PEER, []],
  ["id, text, []", PEER, "m", []], ["own id", runtime.id, "m"], ["unknown id", "nobody@example.org", "m"],
]) await probe(`arguments: ${name}`, () => runtime.sendMessage(...args));

runtime.onMessage.addListener(() => Promise.resolve("never: it is its own"));
await probe("its own listener", () => runtime.sendMessage({}, {}));
await probe("its own listener, by id", () => runtime.sendMessage(runtime.id, {a: 1}));

// ── Values ──

class Own { constructor() { this.x = 1; } get y() { return 2; } }
for (const [name, value] of Object.entries({
  date: new Date(5), map: new Map([[1, 2]]), set: new Set([1]), regexp: /a/g, error: new TypeError("t"),
  bytes: new Uint8Array([1, 2]), buffer: new ArrayBuffer(3), nan: NaN, bigint: 3n, undefined, instance: new Own(),
  null: null, nested: {u: undefined, n: null},
})) await probe(`value: ${name}`, () => say("kindOf", {value}));
await probe("value: and back", async () => Object.prototype.toString.call(await say("promise", {value: new Date(5)})));
await probe("value: function", () => runtime.sendMessage(PEER, () => 1, {}));
await probe("value: URL", () => say("kindOf", {value: new URL("https://a.example/")}));
for (const [name, value] of Object.entries({location, navigator, window, performance, crypto, "location inside": {a: [location]}})) {
  await probe(`value: ${name}`, () => runtime.sendMessage(value));
}
await probe("value: what location is", () => [`${location}`, Object.prototype.toString.call(location), Object.prototype.toString.call(navigator)]);

// ── Callbacks ──

for (const [name, ...args] of [
  ["answer", PEER, {way: "respond", value: 1}], ["nothing", PEER, {way: "returnNothing"}], ["nobody", "nobody@example.org", 1],
  ["throws", PEER, {way: "throwError"}],
]) {
  await probe(`callback: ${name}`, () => new Promise(done => {
    const returned = chrome.runtime.sendMessage(...args, (...given) => {
      done([given, chrome.runtime.lastError?.message ?? null, shown(returned)]);
    });
  }));
}

await probe("callback: not cloned", () => new Promise(done => {
  const returned = chrome.runtime.sendMessage(location, (...given) => {
    done([given, failure(chrome.runtime.lastError), shown(returned)]);
  });
}));

// ── Ports ──

// Open a port, post, and wait until so many things have happened to it; then close it, and see what the other side saw.
async function talk(name, posts, count, id = PEER, saw = 2) {
  const happened = [];
  let enough;
  const waiting = new Promise(done => { enough = done; });
  const port = runtime.connect(id, {name});
  const note = (...what) => {
    happened.push(what);
    if (happened.length >= count) enough();
  };
  port.onMessage.addListener((message, same) => note("message", message, same === port));
  port.onDisconnect.addListener(same => note("disconnect", same === port, port.error && failure(port.error)));
  for (const post of posts) {
    try {
      note("posted", port.postMessage(post));
    } catch (error) {
      note("threw", failure(error));
    }
  }
  await waiting;
  const before = saw && await say("seen", {count: saw});
  port.disconnect();
  port.disconnect();
  try {
    port.postMessage("too late");
  } catch (error) {
    happened.push(["too late", failure(error)]);
  }
  return [happened, before];
}

for (const [name, posts, count, saw] of [
  ["echo", ["one", {two: 2}], 4, 2], ["greet", [], 2, 1], ["silent", ["one", undefined, null], 3, 4], ["shape", [], 1, 1],
  ["throw", ["one"], 1, 2],
]) {
  await probe(`port: ${name}`, () => talk(name, posts, count, PEER, saw));
  await probe(`port: ${name}, then`, () => say("seen", {count: 1}));
}
await probe("port: leave", () => talk("leave", ["one"], 2, PEER, 1));
await probe("port: greetAndLeave", () => talk("greetAndLeave", [], 2, PEER, 1));
await probe("port: nobody", () => talk("x", [1], 2, "nobody@example.org", 0));
await probe("port: itself", () => talk("x", [1], 2, runtime.id, 0));
await probe("port: not cloned", () => talk("silent", [() => 1], 1, PEER, 1));
await probe("port: not cloned, then", () => say("seen", {count: 1}));
await probe("port: what it is", () => {
  const port = runtime.connect("nobody@example.org", {name: "api"});
  port.extra = 1;
  return [
    Object.keys(port), port.name, shown(port.sender), port.error, Object.isFrozen(port), port.extra,
    Object.prototype.toString.call(port), port.onMessage.addListener(5), port.onMessage.hasListener(shown),
    port.onMessage.addListener(shown), port.onMessage.hasListener(shown), port.onMessage.removeListener(shown),
    port.onMessage.hasListener(shown),
  ].map(shown);
});
for (const [name, ...args] of [
  ["none"], ["id", "nobody@example.org"], ["info", {name: "n"}], ["number", 5], ["bad name", {name: 5}], ["bad key", {nome: "x"}],
  ["null, info", null, {name: "x"}], ["channel id", "nobody@example.org", {includeTlsChannelId: true}],
]) await probe(`connect: ${name}`, () => runtime.connect(...args).name);

// ── Tabs ──

const [tab] = await tabs.query({});
for (const [name, ...args] of [
  ["a tab", tab.id, "m"], ["frame", tab.id, "m", {frameId: 0}], ["no such tab", 99999, "m"], ["-1", -1, "m"], ["text", "a", "m"],
  ["no message", tab.id], ["undefined", tab.id, undefined], ["null", tab.id, null], ["document", tab.id, "m", {documentId: "x"}],
  ["bad key", tab.id, "m", {x: 1}], ["bad frame", tab.id, "m", {frameId: -1}], ["function", tab.id, {f() {}}], ["location", tab.id, location],
]) await probe(`tabs.sendMessage: ${name}`, () => tabs.sendMessage(...args));
for (const id of [tab.id, 99999]) {
  await probe(`tabs.connect: ${id === tab.id ? "a tab" : "no such tab"}`, () => new Promise(done => {
    const port = tabs.connect(id, {name: "t"});
    port.onDisconnect.addListener(() => { done([port.name, Object.keys(port), port.error.message]); });
  }));
}
await probe("tabs.connect: text", () => tabs.connect("x"));

// ── The rest of runtime ──

for (const args of [["a.html"], ["/a.html"], [""], ["../a"], ["http://x/y"], ["a b?c#d"], [], [5], ["a", "b"], ["//x/y"], [null]]) {
  await probe(`getURL ${JSON.stringify(args)}`, () => shown({url: runtime.getURL(...args)}).url);
}
await probe("getManifest(1)", () => runtime.getManifest(1));
await probe("openOptionsPage", () => runtime.openOptionsPage());
for (const args of [["https://a.example/"], [""], [null], [], ["nonsense"], ["ftp://x/"], [`http://${"a".repeat(1020)}`], [5]]) {
  await probe(`setUninstallURL ${JSON.stringify(args).slice(0, 30)}`, () => runtime.setUninstallURL(...args));
}
await probe("getBackgroundPage", async () => await runtime.getBackgroundPage() === window);
await probe("getBackgroundPage, callback", () => new Promise(done => {
  const returned = runtime.getBackgroundPage(page => { done([page === window, shown(returned)]); });
}));
await probe("getContexts", () => runtime.getContexts({}).then(([{contextType, documentUrl, tabId}]) => [contextType, documentUrl, tabId]));
for (const filter of [{contextTypes: ["TAB"]}, {tabIds: [-1], frameIds: [0]}, {documentUrls: []}, {incognito: true}]) {
  await probe(`getContexts ${JSON.stringify(filter)}`, () => runtime.getContexts(filter).then(found => found.length));
}
await probe("getContexts bad", () => runtime.getContexts({contextTypes: ["X"]}));
await probe("getBrowserInfo", () => runtime.getBrowserInfo().then(info => [Object.keys(info), info.name, info.vendor, parseInt(info.version)]));
await probe("getPlatformInfo", () => runtime.getPlatformInfo());
for (const name of ["PlatformOs", "PlatformArch", "OnInstalledReason", "ContextType", "RequestUpdateCheckStatus"]) {
  await probe(`runtime.${name}`, () => runtime[name]);
}
await probe("lastError", () => [runtime.lastError, extension.lastError]);

// ── extension and management ──

for (const args of [["a.html"], [5], []]) {
  await probe(`extension.getURL ${JSON.stringify(args)}`, () => shown({url: extension.getURL(...args)}).url);
}
await probe("inIncognitoContext", () => extension.inIncognitoContext);
await probe("isAllowedIncognitoAccess", () => extension.isAllowedIncognitoAccess());
await probe("isAllowedFileSchemeAccess", () => extension.isAllowedFileSchemeAccess());
await probe("extension.getBackgroundPage", () => extension.getBackgroundPage() === window);
await probe("extension.getBackgroundPage(1)", () => extension.getBackgroundPage(1));
await probe("extension.ViewType", () => extension.ViewType);
for (const args of [
  [], [{}], [{type: "tab"}], [{type: "popup"}], [{type: "background"}], [{windowId: -1}], [{windowId: 1}], [{tabId: 1}], [{tabId: -1}],
  [null], [5], [{y: 1}],
]) await probe(`getViews ${JSON.stringify(args)}`, () => extension.getViews(...args).map(view => view === window));

const mine = ({name, ...info}) => info;
await probe("management.getSelf", async () => mine(await management.getSelf()));
await probe("management.get", () => management.get(PEER));
await probe("management.getAll", async () => (await management.getAll()).map(({id}) => id === runtime.id ? "$probe" : id).filter(id => ["$probe", PEER].includes(id)).sort());
await probe("management.get unknown", () => management.get("nobody@example.org"));
await probe("management.get no id", () => management.get("no id"));
await probe("management.get nothing", () => management.get());
await probe("management.setEnabled", () => management.setEnabled(PEER, false));
await probe("management.setEnabled unknown", () => management.setEnabled("nobody", false));
await probe("management.setEnabled itself", () => management.setEnabled(runtime.id, false));
await probe("management.setEnabled 5", () => management.setEnabled(5, false));
await probe("management.uninstallSelf bad", () => management.uninstallSelf({x: 1}));
for (const name of ["ExtensionDisabledReason", "ExtensionType", "ExtensionInstallType"]) {
  await probe(`management.${name}`, () => management[name]);
}
return shown(log);
