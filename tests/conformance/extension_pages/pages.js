// A popup, opened by a click on the button: what it sees, and what the background sees of it. `host("action")` clicks.

const {runtime, tabs, windows, extension} = browser;
const action = browser.browserAction ?? browser.action;
const isVersion3 = runtime.getManifest().manifest_version === 3;
const arrived = []; // what pages reported when they had loaded
const ports = [];
runtime.onMessage.addListener((message, sender) => {
  if (message.arrived) arrived.push([message.arrived, sender]);
  if (message.to === "background") return Promise.resolve({echo: message.value, sender});
});
runtime.onConnect.addListener(port => { ports.push(port); });
const inPopup = (way, value) => runtime.sendMessage({to: "popup", way, value});
const openPopup = async () => {
  const before = arrived.length;
  await host("action");
  await until("the popup has loaded", () => arrived.length > before);
};
const gone = () => until("the popup is gone", async () => {
  try {
    return (await inPopup("here")) === undefined;
  } catch {
    return true;
  }
});
const contexts = async filter => (await runtime.getContexts(filter)).map(({contextType, documentUrl, documentOrigin, frameId, tabId, windowId, incognito}) => (
  {contextType, documentUrl, documentOrigin, frameId, tabId: tabId > 0 ? "$tab" : tabId, windowId: windowId > 0 ? "$window" : windowId, incognito}));

await probe("no popup: contexts", () => contexts({contextTypes: ["POPUP"]}));
await probe("no popup: a message", () => inPopup("here"));
if (!isVersion3) localStorage.setItem("from", "background");
let clicks = 0;
action.onClicked.addListener(() => { clicks++; });
await openPopup();
await probe("the popup has loaded", () => arrived[0]);
await probe("onClicked is not fired", () => clicks);
await probe("contexts", () => contexts({contextTypes: ["POPUP"]}));
for (const way of ["here", "location", "has", "namespaces", "getCurrent", "currentWindow", "activeTab", "ownFile", "ownFileByUrl", "inline", "eval", "newFunction", "handler", "request", "sender", "opener", "unknown"]) {
  await probe(`in the popup: ${way}`, () => inPopup(way));
}
await probe("in the popup: storage", () => inPopup("storage", {a: 1}));
if (!isVersion3) await probe("in the popup: localStorage", async () => [await inPopup("localStorage"), await until("converged", () => localStorage.getItem("to"))]);
await probe("the popup asks", () => inPopup("ask", [1, {a: null}]));
await probe("the popup connects", async () => {
  await inPopup("connect");
  await until("connected", () => ports.length);
  const [port] = ports;
  const message = await new Promise(resolve => { port.onMessage.addListener(resolve); port.postMessage("hello"); });
  return [port.name, port.sender, message];
});
await probe("the popup opens a tab by a relative URL", () => inPopup("openTab"));
await probe("the popup closes itself", async () => {
  const ended = new Promise(resolve => ports[0].onDisconnect.addListener(port => resolve(port.error?.message ?? null)));
  inPopup("close").catch(() => {});
  return ended;
});
await probe("after that: a message", async () => { await gone(); return inPopup("here").then(() => "answered", error => error.message); });
await probe("after that: contexts", () => contexts({contextTypes: ["POPUP"]}));
await probe("another popup is a new document", async () => {
  await action.setPopup({popup: "/pages/popup.html?second"});
  await openPopup();
  const found = [arrived.at(-1)[0], await inPopup("counter")];
  inPopup("close").catch(() => {});
  await gone();
  return found;
});
await probe("without a popup a click is an event", async () => {
  await action.setPopup({popup: ""});
  await host("action");
  await until("clicked", () => clicks);
  return clicks;
});
await probe("a page in a tab", async () => {
  const before = arrived.length;
  const {id} = await tabs.create({url: "/pages/tab.html"});
  await until("the page has loaded", () => arrived.length > before);
  const [url, sender] = arrived.at(-1);
  const current = await runtime.sendMessage({to: "tab", way: "getCurrent"});
  const found = [url, sender.frameId, sender.tab.id === id, current.id === id, (await contexts({contextTypes: ["TAB"]})).length];
  await tabs.remove(id);
  return found;
});
return out;
