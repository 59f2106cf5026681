// tabs.executeScript, insertCSS and removeCSS (manifest version 2).

const {tabs} = browser;
const page = await open(`${SITE}/page`);
const framed = await open(`${SITE}/frames`);
const other = await open(`${OTHER}/page`);
const blank = await open("about:blank");
const run = (details, tab = page) => tabs.executeScript(tab, details);

for (const [name, code] of Object.entries({
  number: "1 + 1", text: "document.title", nothing: "", undefined: "undefined", null: "null", object: "({a: [1, null, undefined, 'x']})",
  date: "new Date(5)", map: "new Map([[1, 2]])", bigint: "10n", nan: "NaN", negativeZero: "-0", function: "() => 1", symbol: "Symbol()", promise: "Promise.resolve(7)",
  promiseOfNothing: "Promise.resolve()", rejection: "Promise.reject(new TypeError('no'))", rejectionOfText: "Promise.reject('text')", thrown: "throw new RangeError('out')",
  thrownText: "throw 'text'", thrownNull: "throw null", syntaxError: "let let = 1", reference: "nowhere.at()", element: "document.body", window: "window",
  hole: "[1, , 3]", cycle: "const cyclic = {}; cyclic.self = cyclic; cyclic.self.self === cyclic ? 'cycle' : cyclic", error: "new TypeError('as a value')",
  declaration: "var declared = 5; declared", again: "declared", let: "let lexical = 1; lexical", letAgain: "let lexical = 2; lexical", sloppy: "(function () { return this === undefined })()",
  here: "typeof browser + typeof browser.runtime.id + typeof browser.tabs + typeof browser.i18n + typeof browser.storage + typeof chrome.runtime",
})) await probe(`code: ${name}`, () => run({code}));

for (const [name, details] of Object.entries({
  empty: {}, both: {code: "1", file: "set.js"}, file: {file: "result.js"}, absoluteFile: {file: "/result.js"}, missing: {file: "missing.js"}, outside: {file: "https://site.example/a.js"},
  dots: {file: "../result.js"}, url: {file: browser.runtime.getURL("result.js")}, frameAndAll: {code: "1", frameId: 0, allFrames: true}, noFrame: {code: "1", frameId: 999999},
  negativeFrame: {code: "1", frameId: -1}, runAt: {code: "1", runAt: "sometime"}, start: {code: "document.readyState", runAt: "document_start"}, unknown: {code: "1", world: "MAIN"},
  number: {code: 5}, nulls: {code: "'null'", file: null, frameId: null, allFrames: null, runAt: null, matchAboutBlank: null, cssOrigin: null},
})) await probe(`details: ${name}`, () => run(details));

await probe("no arguments", () => tabs.executeScript());
await probe("no tab", () => tabs.executeScript(123456, {code: "1"}));
await probe("negative tab", () => tabs.executeScript(-1, {code: "1"}));
await probe("three arguments", () => tabs.executeScript(page, {code: "1"}, 5));
await probe("the active tab, blank", () => tabs.executeScript({code: "location.href"}));
await probe("the active tab", async () => { await tabs.update(page, {active: true}); return tabs.executeScript({code: "location.href"}); });
await probe("blank", () => run({code: "1"}, blank));
await probe("blank, matchAboutBlank", () => run({code: "location.href", matchAboutBlank: true}, blank));
await probe("another site", () => run({code: "1"}, other));
await probe("another site, all frames", () => run({code: "1", allFrames: true}, other));
await probe("another site, css", () => tabs.insertCSS(other, {code: "p {}"}));
await probe("frames", async () => (await run({code: "location.href", allFrames: true}, framed)).sort());
await probe("frames, matchAboutBlank", async () => (await run({code: "location.href", allFrames: true, matchAboutBlank: true}, framed)).sort());
await probe("frames, one throws", () => run({code: "if (parent !== window) throw new Error('in a frame')", allFrames: true}, framed));
await probe("callback", () => new Promise(resolve => chrome.tabs.executeScript(page, {code: "3"}, value => resolve([value, chrome.runtime.lastError?.message]))));
await probe("callback, error", () => new Promise(resolve => chrome.tabs.executeScript(other, {code: "3"}, (...values) => resolve([values, chrome.runtime.lastError.message]))));

const color = async () => (await run({code: "getComputedStyle(document.body).color"}))[0];
for (const [name, details] of Object.entries({
  code: {code: "body {color: rgb(1, 2, 3)}"}, file: {file: "style.css"}, empty: {}, both: {code: "p {}", file: "style.css"}, missing: {file: "missing.css"},
  origin: {code: "p {}", cssOrigin: "page"}, upper: {code: "p {}", cssOrigin: "USER"}, noFrame: {code: "p {}", frameId: 999999}, broken: {code: "}}{"},
})) {
  await probe(`insertCSS: ${name}`, () => tabs.insertCSS(page, details));
  await probe(`insertCSS: ${name}, color`, color);
  await probe(`removeCSS: ${name}`, () => tabs.removeCSS(page, details));
  await probe(`removeCSS: ${name}, color`, color);
}
await probe("removeCSS: never inserted", () => tabs.removeCSS(page, {code: "i {}"}));
await probe("removeCSS, another site", () => tabs.removeCSS(other, {code: "i {}"}));
return out;
