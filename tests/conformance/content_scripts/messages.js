// Messages and ports between the background and content scripts.

const {runtime, tabs} = browser;
const inner = []; // the ids of frames that show /inner
runtime.onMessage.addListener((message, sender) => {
  if (message.hello?.endsWith("/inner")) inner.push(sender.frameId);
  if (message.to === "background") return Promise.resolve({echo: message, sender});
});
const page = await open(`${SITE}/page`);
const framed = await open(`${SITE}/frames`);
const other = await open(`${OTHER}/page`);
const ask = (message, options, tab = page) => tabs.sendMessage(tab, message, ...(options === undefined ? [] : [options]));

await until("the content script listens", () => ask({way: "value"}).then(() => true, () => false));
await until("the frame listens", () => inner.length);
for (const way of ["value", "respond", "respondLater", "promise", "reject", "throwError", "nothing", "sender", "arguments"]) await probe(`to a tab: ${way}`, () => ask({way, value: {a: [1, "x", null]}}));
await probe("to a tab: frame 0", () => ask({way: "value", value: 1}, {frameId: 0}, framed));
await probe("to a tab: no such frame", () => ask({way: "value", value: 1}, {frameId: 999999}, framed));
await probe("to a tab: no such document", () => ask({way: "value", value: 1}, {documentId: "x"}, framed));
await probe("to a tab without content scripts", () => ask({way: "value"}, undefined, other));
await probe("to no tab", () => ask({way: "value"}, undefined, 123456));
await probe("to a frame", () => ask({way: "location"}, {frameId: inner[0]}, framed));

const frameView = ({frameId, parentFrameId, tabId, url}) => ({frameId, parentFrameId: frameOf(parentFrameId), isTab: tabId === framed, url});
await probe("frames of a tab", async () => (await browser.webNavigation.getAllFrames({tabId: framed})).map(frameView).sort((a, b) => a.url < b.url ? -1 : 1));
await probe("one frame", async () => frameView({tabId: framed, ...await browser.webNavigation.getFrame({tabId: framed, frameId: inner[0]})}));
await probe("no such frame", () => browser.webNavigation.getFrame({tabId: framed, frameId: 999999}));

await probe("from a content script", () => ask({way: "ask", message: {to: "background", value: [1, {a: null}]}}));
await probe("from a frame", async () => {
  const {sender} = await ask({way: "ask", message: {to: "background"}}, {frameId: inner[0]}, framed);
  return [sender, sender.frameId === inner[0]];
});
await probe("from a content script to nobody", () => ask({way: "ask", message: {to: "nobody"}}));
await probe("from a content script to an unknown extension", () => ask({way: "askOther", message: {to: "nobody"}}));
await probe("a document id that content scripts have", async () => {
  const {sender} = await ask({way: "ask", message: {to: "background"}});
  return ask({way: "location"}, {documentId: sender.documentId});
});

// ── Ports ──

const events = [];
await probe("connect to a tab", () => new Promise(resolve => {
  const port = tabs.connect(page, {name: "to page"});
  port.onMessage.addListener(message => { events.push(message); if (message.last) resolve(events); });
  port.postMessage({ask: "echo"});
  port.postMessage({ask: "last"});
}));
await probe("the content script disconnects", () => new Promise(resolve => {
  const port = tabs.connect(page, {name: "close me"});
  port.onDisconnect.addListener(ended => resolve([ended === port, ended.error?.message ?? null]));
}));
await probe("connect to a tab without content scripts", () => new Promise(resolve => {
  const port = tabs.connect(other);
  port.onDisconnect.addListener(ended => resolve([ended === port, ended.error?.message ?? null]));
}));
await probe("connect to no such frame", () => new Promise(resolve => {
  tabs.connect(page, {frameId: 999999}).onDisconnect.addListener(ended => resolve(ended.error?.message ?? null));
}));
const connected = new Promise(resolve => runtime.onConnect.addListener(resolve));
await probe("a content script connects", async () => {
  await ask({way: "connect"});
  const port = await connected;
  const message = await new Promise(resolve => { port.onMessage.addListener(resolve); port.postMessage("hello"); });
  return [port.name, port.sender, message];
});
await probe("the page of a port navigates", async () => {
  const tab = await open(`${SITE}/page?navigates`);
  await until("it listens", () => ask({way: "value"}, undefined, tab).then(() => true, () => false));
  const port = tabs.connect(tab, {name: "stay"});
  await new Promise(resolve => { port.onMessage.addListener(resolve); port.postMessage({ask: "echo"}); });
  const ended = new Promise(resolve => port.onDisconnect.addListener(each => resolve(each.error?.message ?? null)));
  await tabs.update(tab, {url: `${SITE}/page?elsewhere`});
  return ended;
});
await probe("the tab of a port is closed", async () => {
  const tab = await open(`${SITE}/page?closes`);
  await until("it listens", () => ask({way: "value"}, undefined, tab).then(() => true, () => false));
  const port = tabs.connect(tab, {name: "stay"});
  await new Promise(resolve => { port.onMessage.addListener(resolve); port.postMessage({ask: "echo"}); });
  const ended = new Promise(resolve => port.onDisconnect.addListener(each => resolve(each.error?.message ?? null)));
  await tabs.remove(tab);
  return ended;
});
return out;
