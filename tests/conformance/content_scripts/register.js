// contentScripts.register (manifest version 2).

const {contentScripts, tabs} = browser;
const HOST = `${SITE.replace(/:\d+$/, "")}/*`;
const SCRIPT = {matches: [HOST], js: [{file: "mark.js"}]};
const marks = async (url = `${SITE}/page`) => {
  const tab = await open(url);
  const [found] = await tabs.executeScript(tab, {code: "[document.documentElement.dataset.marks ?? '', document.documentElement.dataset.code ?? '', getComputedStyle(document.body).color]"});
  await tabs.remove(tab);
  return found;
};
for (const [name, options] of Object.entries({
  empty: {}, noMatches: {js: [{file: "mark.js"}]}, emptyMatches: {...SCRIPT, matches: []}, badPattern: {...SCRIPT, matches: ["frob"]}, noPermission: {...SCRIPT, matches: ["http://elsewhere.example/*"]},
  allUrls: {...SCRIPT, matches: ["<all_urls>"]}, noFiles: {matches: [HOST]}, emptySource: {...SCRIPT, js: [{}]}, both: {...SCRIPT, js: [{file: "mark.js", code: "1"}]}, text: {...SCRIPT, js: ["mark.js"]},
  outside: {...SCRIPT, js: [{file: "https://site.example/a.js"}]}, runAt: {...SCRIPT, runAt: "later"}, emptyExclude: {...SCRIPT, excludeMatches: []}, store: {...SCRIPT, cookieStoreId: "nowhere"},
  noStores: {...SCRIPT, cookieStoreId: []}, unknown: {...SCRIPT, frob: 1},
})) await probe(`register: ${name}`, () => contentScripts.register(options).then(async found => {
  await found.unregister();
  return Object.keys(found);
}));

let script;
await probe("file", async () => { script = await contentScripts.register(SCRIPT); return marks(); });
await probe("unregister", () => script.unregister());
await probe("unregister again", () => script.unregister());
await probe("after unregister", () => marks());
await probe("code", async () => { script = await contentScripts.register({matches: [HOST], js: [{code: "document.documentElement.dataset.code = 'code'"}, {file: "mark.js"}], css: [{code: "body {color: rgb(1, 2, 3)}"}], runAt: "document_start"}); const found = await marks(); await script.unregister(); return found; });
await probe("css file", async () => { script = await contentScripts.register({matches: [HOST], css: [{file: "style.css"}]}); const found = await marks(); await script.unregister(); return found; });
for (const [name, more] of Object.entries({
  excludeMatches: {excludeMatches: [HOST]}, includeGlobs: {includeGlobs: ["*/page"]}, otherGlobs: {includeGlobs: ["*/elsewhere"]}, noGlobs: {includeGlobs: []}, excludeGlobs: {excludeGlobs: ["*/pag?"]}, notExcluded: {excludeGlobs: ["*/pa?"]},
  store: {cookieStoreId: "firefox-default"}, otherStore: {cookieStoreId: "firefox-container-1"}, stores: {cookieStoreId: ["firefox-container-1", "firefox-default"]}, path: {matches: [`${HOST.slice(0, -1)}page`]}, otherPath: {matches: [`${HOST.slice(0, -1)}pag`]},
})) await probe(`matches: ${name}`, async () => { script = await contentScripts.register({...SCRIPT, ...more}); const found = await marks(); await script.unregister(); return found[0]; });
await probe("query and fragment", async () => { script = await contentScripts.register({...SCRIPT, includeGlobs: ["*/page?q"]}); const found = await marks(`${SITE}/page?q#f`); await script.unregister(); return found[0]; });
await probe("keys", () => Object.keys(contentScripts).filter(name => contentScripts[name] !== undefined));
return out;
