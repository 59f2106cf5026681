// Content scripts of the manifest: when and where they run, and what they have.

const {runtime} = browser;
const reports = [];
runtime.onMessage.addListener((message, sender) => {
  if (message.report) reports.push([message.report, message.url, sender.frameId === 0 ? "top" : "frame", sender.tab.url === undefined ? "no tab url" : "tab url"]);
});
await open(`${SITE}/frames`);
await until("all reports", () => reports.length >= EXPECTED_REPORTS);
await probe("order in the main frame", () => reports.filter(([name, , where]) => where === "top").map(([name]) => name));
await probe("frames", () => reports.filter(([name, , where]) => where === "frame").map(([name, url]) => `${name} ${url}`).sort());
await probe("senders", () => reports.filter(([name]) => name === "start").map(([, ...rest]) => rest));
reports.length = 0;
const about = [];
runtime.onMessage.addListener(message => { if (message.about) about.push(message.about); });
await open(`${SITE}/about`);
await probe("what a content script has", async () => { await until("about", () => about.length); return about[0]; });
await open(`${OTHER}/page`);
await open(`${SITE}/excluded`);
await open(`${SITE}/about`);
await until("about again", () => about.length > 1);
await probe("not on other pages", () => reports.map(([name]) => name));
return out;
