// Content scripts of the manifest: when and where they run, and what they have.

const {runtime} = browser;
const reports = [];
runtime.onMessage.addListener((message, sender) => {
  if (message.report) reports.push([message.report, message.url, sender.frameId === 0 ? "top" : "frame", sender.tab.url === undefined ? "no tab url" : "tab url"]);
});
await open(`${SITE}/frames`);
await until("all reports", () => reports.some(([name]) => name === "idle") && reports.filter(([name]) => name === "all").length >= EXPECTED_FRAMES);
await probe("order in the main frame", () => reports.filter(([name, , where]) => where === "top").map(([name]) => name));
await probe("frames", () => reports.filter(([name, , where]) => where === "frame").map(([name, url]) => `${name} ${url}`).sort());
await probe("senders", () => reports.filter(([name]) => name === "start").map(([, ...rest]) => rest));
reports.length = 0;
const about = new Promise(resolve => runtime.onMessage.addListener(message => { if (message.about) resolve(message.about); }));
await open(`${SITE}/about`);
await probe("what a content script has", () => about);
await open(`${OTHER}/page`);
await open(`${SITE}/excluded`);
await probe("not on other pages", () => reports.map(([name]) => name));
return out;
