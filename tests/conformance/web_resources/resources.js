// Files of the extension in web pages: loaded by a content script, and by the page itself.

const POLICY = "policy";
const results = async (tab, world) => {
  const code = world === "content"
    ? `loads(${JSON.stringify(browser.runtime.getURL(""))})`
    : `new Promise(resolve => {
         document.addEventListener("loaded", () => { resolve(JSON.parse(document.documentElement.dataset.found)); }, {once: true});
         const script = document.createElement("script");
         script.textContent = ${JSON.stringify(LOADS)} + "; loads(" + ${JSON.stringify(JSON.stringify(browser.runtime.getURL("")))} + ").then(found => {"
           + "document.documentElement.dataset.found = JSON.stringify(found); document.dispatchEvent(new Event('loaded')); })";
         document.body.append(script);
       })`;
  await browser.tabs.executeScript(tab, {file: "loads.js"});
  const [found] = await browser.tabs.executeScript(tab, {code});
  return found;
};
const show = async (name, path, world) => {
  const tab = await open(`${SITE}/${path}`);
  const found = await results(tab, world);
  for (const key in found) await probe(`${name}: ${key}`, () => found[key]);
};
await show("content script", "page", "content");
await show("page", "page", "page");
await show("content script, with a policy", POLICY, "content");
await show("page, with a policy", POLICY, "page");

// A frame with a page of the extension.
browser.runtime.onMessage.addListener((message, sender) => {
  if (message.frame) return Promise.resolve({echo: message, sender});
});
const framed = (path, page = "page") => async () => {
  const tab = await open(`${SITE}/${page}`);
  const code = `new Promise(resolve => {
    addEventListener("message", event => { resolve([event.data, event.origin]); });
    const frame = document.createElement("iframe");
    frame.src = browser.runtime.getURL("${path}");
    document.body.append(frame);
    setTimeout(resolve, 10000, "no message");
  })`;
  return (await browser.tabs.executeScript(tab, {code}))[0];
};
await probe("frame", framed("open/page.html"));
await probe("frame that is not accessible", framed("closed/page.html"));
await probe("frame, with a policy", framed("open/page.html", POLICY));

// Redirects.
const redirect = to => details => ({redirectUrl: browser.runtime.getURL(to)});
for (const access of ["open", "closed"]) {
  await probe(`redirect of an image: ${access}`, async () => {
    const listener = redirect(`${access}/image.svg`);
    browser.webRequest.onBeforeRequest.addListener(listener, {urls: ["http://localhost/redirected*"]}, ["blocking"]);
    const tab = await open(`${SITE}/page`);
    const [found] = await browser.tabs.executeScript(tab, {code: `new Promise(resolve => {
      const image = document.createElement("img");
      image.onload = () => { resolve("load"); };
      image.onerror = () => { resolve("error"); };
      image.src = "/redirected?${access}";
    })`});
    browser.webRequest.onBeforeRequest.removeListener(listener);
    return found;
  });
  await probe(`redirect of a script's fetch: ${access}`, async () => {
    const listener = redirect(`${access}/text.txt`);
    browser.webRequest.onBeforeRequest.addListener(listener, {urls: ["http://localhost/redirected*"]}, ["blocking"]);
    const tab = await open(`${SITE}/page`);
    const [found] = await browser.tabs.executeScript(tab, {code: `new Promise(resolve => {
      document.addEventListener("loaded", () => { resolve(document.documentElement.dataset.found); }, {once: true});
      const script = document.createElement("script");
      script.textContent = "fetch('/redirected').then(response => response.text()).catch(error => error.name).then(text => {"
        + "document.documentElement.dataset.found = text; document.dispatchEvent(new Event('loaded')); })";
      document.body.append(script);
    })`});
    browser.webRequest.onBeforeRequest.removeListener(listener);
    return found;
  });
}
return out;
