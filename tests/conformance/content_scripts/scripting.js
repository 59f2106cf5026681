// scripting.executeScript, insertCSS, removeCSS and registered content scripts (both manifest versions).

const {tabs, scripting} = browser;
const cyclic = {};
cyclic.self = cyclic;
const page = await open(`${SITE}/page`);
const framed = await open(`${SITE}/frames`);
const other = await open(`${OTHER}/page`);
const blank = await open("about:blank");
const run = (injection, target = {tabId: page}) => scripting.executeScript({target, ...injection});

for (const [name, func] of Object.entries({
  number: () => 1 + 1, text: () => document.title, nothing: () => {}, null: () => null, object: () => ({a: [1, null, undefined, "x"]}), date: () => new Date(5),
  map: () => new Map([[1, 2]]), bigint: () => 10n, function: () => () => 1, symbol: () => Symbol(), promise: () => Promise.resolve(7), async: async () => "later",
  rejection: () => Promise.reject(new TypeError("no")), rejectionOfText: () => Promise.reject("text"), thrown: () => { throw new RangeError("out"); }, thrownText: () => { throw "text"; },
  thrownNull: () => { throw null; }, thrownObject: () => { throw {a: 1}; }, thrownFunction: () => { throw () => 1; }, element: () => document.body, window: () => window, error: () => new TypeError("as a value"),
  here: () => typeof browser + typeof browser.runtime.id + typeof browser.scripting,
  named: function named() { return named.name; }, cycle: () => { const c = {}; c.self = c; return c.self.self === c; },
})) await probe(`func: ${name}`, () => run({func}));

for (const [name, injection] of Object.entries({
  empty: {}, both: {func: () => 1, files: ["result.js"]}, file: {files: ["result.js"]}, files: {files: ["set.js", "result.js"]}, absolute: {files: ["/result.js"]}, noFiles: {files: []},
  missing: {files: ["missing.js"]}, outside: {files: ["https://site.example/a.js"]}, args: {func: (...args) => args, args: [1, "x", null, {a: [true]}, undefined]},
  argsWithFiles: {files: ["result.js"], args: [1]}, argsFunction: {func: (...args) => args, args: [() => 1]}, argsBigint: {func: (...args) => args, args: [1n]}, argsCycle: {func: () => 1, args: [cyclic]},
  noArgs: {func: (...args) => args.length, args: []}, main: {func: () => [typeof browser, typeof window.pageVariable], world: "MAIN"}, isolated: {func: () => typeof window.pageVariable, world: "ISOLATED"},
  world: {func: () => 1, world: "USER"}, immediately: {func: () => 1, injectImmediately: true}, unknown: {func: () => 1, frob: 1}, text: {func: "() => 1"}, mainThrows: {func: () => { throw new Error("main"); }, world: "MAIN"},
  mainFile: {files: ["result.js"], world: "MAIN"}, throwingFile: {files: ["throws.js"]}, brokenFile: {files: ["broken.js"]},
})) await probe(`injection: ${name}`, () => run(injection));

for (const [name, target] of Object.entries({
  empty: {}, noTab: {tabId: 123456}, negativeTab: {tabId: -1}, text: {tabId: "1"}, fraction: {tabId: 1.5}, frame0: {tabId: page, frameIds: [0]}, noFrames: {tabId: page, frameIds: []}, unknownFrame: {tabId: page, frameIds: [0, 999999]},
  unknownFrames: {tabId: page, frameIds: [999998, 999999]}, allFrames: {tabId: page, allFrames: true}, both: {tabId: page, allFrames: true, frameIds: [0]}, notAll: {tabId: page, allFrames: false, frameIds: [0]},
  documentAndFrame: {tabId: page, frameIds: [0], documentIds: ["x"]}, documentAndAll: {tabId: page, allFrames: true, documentIds: ["x"]}, noDocument: {tabId: page, documentIds: ["x"]}, noDocuments: {tabId: page, documentIds: []},
  other: {tabId: other}, otherFrames: {tabId: other, allFrames: true}, otherFrameIds: {tabId: other, frameIds: [0]}, blank: {tabId: blank},
})) await probe(`target: ${name}`, () => run({func: () => location.href}, target));
await probe("frames", async () => (await run({func: () => ({url: location.href})}, {tabId: framed, allFrames: true})).sort((a, b) => a.result.url < b.result.url ? -1 : 1));
await probe("frames by id", async () => {
  const all = await run({func: () => location.href}, {tabId: framed, allFrames: true});
  const inner = all.find(each => each.result.endsWith("/inner"));
  const [byId] = await run({func: () => location.href}, {tabId: framed, frameIds: [inner.frameId]});
  const [byDocument] = await run({func: () => location.href}, {tabId: framed, documentIds: [inner.documentId]});
  return [byId.result, byDocument.result, byId.documentId === inner.documentId, byDocument.frameId === inner.frameId];
});
await probe("frames, some throw", async () => (await run({func: () => { if (parent !== window) throw new Error("in a frame"); return "top"; }}, {tabId: framed, allFrames: true})).map(each => each.error?.message ?? each.result).sort());
await probe("no arguments", () => scripting.executeScript());
await probe("no target", () => scripting.executeScript({func: () => 1}));
await probe("callback", () => new Promise(resolve => chrome.scripting.executeScript({target: {tabId: page}, func: () => 3}, value => resolve([value, chrome.runtime.lastError?.message]))));
await probe("callback, error", () => new Promise(resolve => chrome.scripting.executeScript({target: {tabId: other}, func: () => 3}, (...values) => resolve([values, chrome.runtime.lastError.message]))));

const policy = await open(`${SITE}/policy`);
for (const world of ["MAIN", "ISOLATED"]) for (const [path, tabId] of Object.entries({page, policy})) for (const [name, func] of Object.entries({
  eval: () => { try { return eval("1 + 1"); } catch (error) { return error.name; } }, Function: () => { try { return new Function("return 2")(); } catch (error) { return error.name; } },
  later: async () => { await null; try { return (0, eval)("2"); } catch (error) { return error.name; } }, uncaught: () => eval("2"),
})) await probe(`${name}: ${world}, ${path}`, async () => { const [{result, error}] = await run({func, world}, {tabId}); return error ? "thrown" : result; });

const color = async () => (await run({func: () => getComputedStyle(document.body).color}))[0].result;
for (const [name, injection] of Object.entries({
  css: {css: "body {color: rgb(1, 2, 3)}"}, files: {files: ["style.css"]}, empty: {}, both: {css: "p {}", files: ["style.css"]}, missing: {files: ["missing.css"]}, origin: {css: "p {}", origin: "user"},
  user: {css: "body {color: rgb(4, 5, 6)}", origin: "USER"}, emptyCss: {css: ""}, outside: {files: ["https://site.example/a.css"]},
})) {
  await probe(`insertCSS: ${name}`, () => scripting.insertCSS({target: {tabId: page}, ...injection}));
  await probe(`insertCSS: ${name}, color`, color);
  await probe(`removeCSS: ${name}`, () => scripting.removeCSS({target: {tabId: page}, ...injection}));
  await probe(`removeCSS: ${name}, color`, color);
}
await probe("insertCSS, another site", () => scripting.insertCSS({target: {tabId: other}, css: "p {}"}));
await probe("insertCSS, no frames", () => scripting.insertCSS({target: {tabId: page, frameIds: []}, css: "p {}"}));

// ── Registered content scripts ──

const get = filter => scripting.getRegisteredContentScripts(...(filter === undefined ? [] : [filter]));
const SCRIPT = {id: "one", matches: [`${SITE.replace(/:\d+$/, "")}/*`], js: ["mark.js"]};
await probe("registered: none", () => get());
for (const [name, script] of Object.entries({
  noId: {matches: SCRIPT.matches, js: ["mark.js"]}, emptyId: {...SCRIPT, id: ""}, underscore: {...SCRIPT, id: "_x"}, noMatches: {id: "x", js: ["mark.js"]}, emptyMatches: {...SCRIPT, matches: []},
  noFiles: {id: "x", matches: SCRIPT.matches}, emptyFiles: {...SCRIPT, js: []}, badPattern: {...SCRIPT, matches: ["frob"]}, badExclude: {...SCRIPT, excludeMatches: ["frob"]}, badRunAt: {...SCRIPT, runAt: "later"},
  badWorld: {...SCRIPT, world: "page"}, outside: {...SCRIPT, js: ["https://site.example/a.js"]}, unknown: {...SCRIPT, frob: 1}, blank: {...SCRIPT, matchAboutBlank: true}, globs: {...SCRIPT, includeGlobs: ["*"]},
  fallbackPath: {...SCRIPT, id: "fallback", matches: [`${SCRIPT.matches[0].slice(0, -1)}page`], matchOriginAsFallback: true}, aboutPattern: {...SCRIPT, id: "about", matches: ["about:*"]}, cssOrigin: {...SCRIPT, id: "upper", cssOrigin: "USER"},
})) await probe(`register: ${name}`, () => scripting.registerContentScripts([script]));
await probe("registered: after errors", () => get());
await probe("unregister: upper", () => scripting.unregisterContentScripts());
await probe("register: no list", () => scripting.registerContentScripts(SCRIPT));
await probe("register: empty list", () => scripting.registerContentScripts([]));
await probe("register: twice in the list", () => scripting.registerContentScripts([SCRIPT, SCRIPT]));
await probe("register: one good, one bad", () => scripting.registerContentScripts([{...SCRIPT, id: "good"}, {...SCRIPT, id: ""}]));
await probe("registered: none of them", () => get());
await probe("register: missing file", () => scripting.registerContentScripts([{...SCRIPT, id: "missing", js: ["missing.js"], persistAcrossSessions: false}]));
await probe("register: one", () => scripting.registerContentScripts([SCRIPT]));
await probe("register: again", () => scripting.registerContentScripts([SCRIPT]));
await probe("register: all keys", () => scripting.registerContentScripts([{
  id: "two", matches: ["*://*/*"], excludeMatches: ["*://excluded.example/*"], js: ["/mark.js"], css: ["style.css"], allFrames: true, runAt: "document_start", world: "MAIN", persistAcrossSessions: false, matchOriginAsFallback: true, cssOrigin: "user",
}]));
await probe("registered", () => get());
await probe("registered: filter", () => get({ids: ["two"]}));
await probe("registered: unknown filter", () => get({ids: ["nobody"]}));
await probe("registered: empty filter", () => get({}));
await probe("registered: no ids", () => get({ids: []}));
await probe("update: unknown", () => scripting.updateContentScripts([{id: "nobody", js: ["mark.js"]}]));
await probe("update: twice", () => scripting.updateContentScripts([{id: "one"}, {id: "one"}]));
await probe("update: empty matches", () => scripting.updateContentScripts([{id: "one", matches: []}]));
await probe("update: empty id", () => scripting.updateContentScripts([{id: ""}]));
await probe("update: without persistAcrossSessions", () => scripting.updateContentScripts([{id: "two", runAt: "document_end", css: [], excludeMatches: []}]));
await probe("update: one", () => scripting.updateContentScripts([{id: "one", excludeMatches: ["*://excluded.example/*"], allFrames: true}]));
await probe("registered: updated", () => get());
await probe("marked", async () => { const tab = await open(`${SITE}/page?marked`); return until("marked", async () => (await run({func: () => [document.documentElement.dataset.marks ?? "", getComputedStyle(document.body).color]}, {tabId: tab}))[0].result); });
await probe("not marked: another site", async () => { const tab = await open(`${OTHER}/page?marked`); const {title} = await tabs.get(tab); return title ?? "$hidden"; });
await probe("unregister: unknown", () => scripting.unregisterContentScripts({ids: ["nobody"]}));
await probe("unregister: one and unknown", () => scripting.unregisterContentScripts({ids: ["one", "nobody"]}));
await probe("unregister: no ids", () => scripting.unregisterContentScripts({ids: []}));
await probe("unregister: one", () => scripting.unregisterContentScripts({ids: ["one"]}));
await probe("unregister: one again", () => scripting.unregisterContentScripts({ids: ["one"]}));
await probe("unregister: twice in the list", () => scripting.unregisterContentScripts({ids: ["two", "two"]}));
await probe("registered: two gone", () => get());
await probe("unregister: all", () => scripting.unregisterContentScripts());
await probe("registered: none left", () => get());
await probe("keys", () => Object.keys(scripting).filter(name => scripting[name] !== undefined).sort());
await probe("enumerations", () => JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(scripting).filter(([, value]) => typeof value === "object")))));
return out;
