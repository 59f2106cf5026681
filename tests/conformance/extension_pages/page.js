// The script of the pages of pages.js. `window.inline` is set by an inline script, if that may run.

const kind = location.pathname.includes("tab.html") ? "tab" : "popup";
let counter = 0;
const ways = {
  here: () => "here",
  counter: () => ++counter,
  location: () => [location.href, location.origin, location.protocol, document.title, document.URL === location.href],
  has: () => [typeof browser, typeof chrome, typeof browser.tabs, typeof browser.runtime.getBackgroundPage, typeof window.open, typeof localStorage, typeof indexedDB, browser === chrome, window === self, isSecureContext],
  namespaces: () => ["runtime", "tabs", "windows", "storage", "i18n", "extension", "permissions", "bookmarks", "cookies"].filter(name => browser[name] !== undefined),
  getCurrent: () => browser.tabs.getCurrent(),
  currentWindow: async () => (await browser.windows.getCurrent()).type,
  activeTab: async () => (await browser.tabs.query({active: true, currentWindow: true})).length,
  ownFile: async () => [(await (await fetch("../data.json")).json()).a, (await fetch("../data.json")).status],
  ownFileByUrl: async () => { const response = await fetch(browser.runtime.getURL("data.json")); return [response.url, response.ok]; },
  inline: () => typeof window.inline,
  eval: () => { try { return eval("1 + 1"); } catch (error) { return error.name; } },
  newFunction: () => { try { return new Function("return 1")(); } catch (error) { return error.name; } },
  handler: () => { document.body.setAttribute("onclick", "window.handled = true"); document.body.click(); return typeof window.handled; },
  request: () => browser.permissions.request({origins: ["http://elsewhere.example/*"]}),
  sender: (value, sender) => sender,
  opener: () => [window.opener === null, window.parent === window, window.frameElement === null],
  storage: async value => {
    const changed = new Promise(resolve => browser.storage.onChanged.addListener((changes, area) => resolve([changes, area])));
    await browser.storage.local.set(value);
    return [await browser.storage.local.get(), await changed];
  },
  localStorage: () => { localStorage.setItem("to", "popup"); return localStorage.getItem("from"); },
  ask: value => browser.runtime.sendMessage({to: "background", value}),
  connect: () => {
    const port = browser.runtime.connect({name: "from popup"});
    port.onMessage.addListener(message => port.postMessage({back: message}));
  },
  openTab: async () => {
    const {id} = await browser.tabs.create({url: "tab.html?relative", active: false});
    for (let i = 0; i < 500; i++) {
      const {url} = await browser.tabs.get(id);
      if (url !== "about:blank") {
        await browser.tabs.remove(id);
        return url;
      }
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  },
  close: () => { window.close(); },
};
browser.runtime.onMessage.addListener((message, sender) => {
  if (message.to !== kind) return undefined;
  try {
    return Promise.resolve(ways[message.way]?.(message.value, sender));
  } catch (error) {
    return Promise.reject(error);
  }
});
browser.runtime.sendMessage({arrived: location.href});
