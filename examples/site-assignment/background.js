// Site assignment: an assigned site always opens in its container. A request from another container is cancelled
// before it is sent, and made in a new tab of the right container.
//
// storage.local has an entry for each site: its host name, and the cookieStoreId of its container.

const NO_CONTAINER = "firefox-default";

// ── The menu ──

browser.menus.create({ id: "assign", title: "Always open this site in this container", contexts: ["page", "tab"] });
browser.menus.create({ id: "release", title: "Open this site in any container", contexts: ["page", "tab"] });

browser.menus.onClicked.addListener(async ({ menuItemId }, tab) => {
  const { protocol, hostname } = new URL(tab.url);
  if (!/^https?:$/.test(protocol)) {
    return;
  }
  if (menuItemId === "release" || tab.cookieStoreId === NO_CONTAINER) {
    await browser.storage.local.remove(hostname);
  } else {
    await browser.storage.local.set({ [hostname]: tab.cookieStoreId });
  }
});

// Delete the assignments to a removed container.
browser.contextualIdentities.onRemoved.addListener(async ({ contextualIdentity }) => {
  const assigned = Object.entries(await browser.storage.local.get());
  const orphans = assigned.filter(([, cookieStoreId]) => cookieStoreId === contextualIdentity.cookieStoreId);
  await browser.storage.local.remove(orphans.map(([hostname]) => hostname));
});

// ── Redirection to the container ──

/** Called for each redirect too, so a redirect to an assigned site does not send cookies of another container. */
async function keepToContainer({ tabId, url, cookieStoreId }) {
  const { hostname } = new URL(url);
  const { [hostname]: assigned } = await browser.storage.local.get(hostname);
  if (!assigned || assigned === cookieStoreId) {
    return {};
  }
  const tab = await browser.tabs.get(tabId);
  const { windowId, index, active } = tab;
  await browser.tabs.create({ url, cookieStoreId: assigned, windowId, index: index + 1, active });
  if (tab.url === "about:blank") {
    await browser.tabs.remove(tabId); // the tab was opened for this page, and would stay empty
  }
  return { cancel: true };
}

browser.webRequest.onBeforeRequest.addListener(
  keepToContainer,
  { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] },
  ["blocking"],
);
