// Site assignment: a site that you have assigned to a container opens there, wherever its link is clicked. The request
// from the wrong container is cancelled before anything is sent, and a tab in the right one makes it instead.
//
// storage.local has an entry for each site: its host name, and the cookieStoreId of its container.

const NO_CONTAINER = "firefox-default";

// ── Choosing: the menu of a page ──

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

// A site must not be kept from opening by a container that is gone.
browser.contextualIdentities.onRemoved.addListener(async ({ contextualIdentity }) => {
  const assigned = Object.entries(await browser.storage.local.get());
  const orphans = assigned.filter(([, cookieStoreId]) => cookieStoreId === contextualIdentity.cookieStoreId);
  await browser.storage.local.remove(orphans.map(([hostname]) => hostname));
});

// ── Moving ──

/** Redirects come here too, once for each hop: a site that leads to another one does not take its cookies along. */
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
    await browser.tabs.remove(tabId); // it was opened for this page, and stays empty without it
  }
  return { cancel: true };
}

browser.webRequest.onBeforeRequest.addListener(
  keepToContainer,
  { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] },
  ["blocking"],
);
