// A content script that reports what it has.

const members = object => Object.keys(object ?? {}).filter(name => object[name] !== undefined).sort();
browser.runtime.sendMessage({about: {
  browser: members(browser), runtime: members(browser.runtime), extension: members(browser.extension), i18n: members(browser.i18n), storage: members(browser.storage),
  same: browser === chrome, id: browser.runtime.id, url: browser.runtime.getURL("a.js"), manifest: browser.runtime.getManifest().name.length > 0,
  types: [typeof window, typeof document, typeof fetch, typeof XMLHttpRequest, typeof window.pageVariable, typeof setTimeout],
  title: document.title, state: document.readyState, location: location.href, self: window === self && self === globalThis,
}});
