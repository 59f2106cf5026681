// Container switcher: a tab is reopened in another container, from its menu or with a key, and the button carries
// the first letters of the container that you are in.
//
// The background is an event page: it is stopped when idle and run again for an event. So nothing is kept in
// variables, and all listeners are added at the top level.

const NO_CONTAINER = "firefox-default";
const MENU = "reopen";

// ── Reopening ──

/** A tab cannot change its container: a new one takes its place. */
async function reopen(tab, cookieStoreId) {
  if (tab.cookieStoreId === cookieStoreId) {
    return;
  }
  const { windowId, index, active, pinned } = tab;
  const page = /^https?:/.test(tab.url) ? { url: tab.url } : {}; // a new tab's page is no address to open
  await browser.tabs.create({ ...page, cookieStoreId, windowId, index: index + 1, active, pinned });
  await browser.tabs.remove(tab.id);
}

/** The container after this one. The last is followed by none at all, and that by the first. */
async function nextContainer(cookieStoreId) {
  const containers = await browser.contextualIdentities.query({});
  const ring = [NO_CONTAINER, ...containers.map((container) => container.cookieStoreId)];
  return ring[(ring.indexOf(cookieStoreId) + 1) % ring.length];
}

browser.commands.onCommand.addListener(async (command, tab) => {
  if (command === "next-container") {
    await reopen(tab, await nextContainer(tab.cookieStoreId));
  }
});

// ── The menu: one item for each container, with its cookieStoreId as id ──

function addToMenu({ cookieStoreId, name }) {
  browser.menus.create({ id: cookieStoreId, parentId: MENU, title: name, contexts: ["tab", "page"] });
}

async function buildMenu() {
  const containers = await browser.contextualIdentities.query({});
  await browser.menus.removeAll();
  browser.menus.create({ id: MENU, title: "Reopen in container", contexts: ["tab", "page"] });
  [{ cookieStoreId: NO_CONTAINER, name: "No container" }, ...containers].forEach(addToMenu);
}

browser.runtime.onInstalled.addListener(buildMenu);
browser.runtime.onStartup.addListener(buildMenu); // containers may have come and gone meanwhile

browser.menus.onClicked.addListener(({ menuItemId }, tab) => reopen(tab, menuItemId));

browser.contextualIdentities.onCreated.addListener(({ contextualIdentity }) => addToMenu(contextualIdentity));
browser.contextualIdentities.onRemoved.addListener(({ contextualIdentity }) =>
  browser.menus.remove(contextualIdentity.cookieStoreId),
);
browser.contextualIdentities.onUpdated.addListener(async ({ contextualIdentity: { cookieStoreId, name } }) => {
  await browser.menus.update(cookieStoreId, { title: name });
  const shown = await browser.tabs.query({ active: true, cookieStoreId });
  await Promise.all(shown.map(label));
});

// ── The button ──

/** Label the button of a window with the container of its active tab. A tab's own label would go with its page. */
async function label({ windowId, cookieStoreId }) {
  if (cookieStoreId === NO_CONTAINER) {
    await browser.action.setBadgeText({ windowId, text: null }); // null: what holds for all windows
    await browser.action.setTitle({ windowId, title: null });
    return;
  }
  const container = await browser.contextualIdentities.get(cookieStoreId);
  await browser.action.setBadgeText({ windowId, text: container.name.slice(0, 3) });
  await browser.action.setBadgeBackgroundColor({ windowId, color: container.colorCode });
  await browser.action.setTitle({ windowId, title: container.name });
}

browser.tabs.onActivated.addListener(async ({ tabId }) => label(await browser.tabs.get(tabId)));
