// Container switcher: reopens a tab in another container, from its menu or with a shortcut. The badge of the action
// shows the first letters of the current container.
//
// The background is an event page: it is suspended when idle, and started again for an event. So it has no state in
// variables, and adds all listeners at the top level.

const NO_CONTAINER = "firefox-default";
const MENU = "reopen";

// ── Reopening ──

/** A tab cannot change its container, so a new tab replaces it. */
async function reopen(tab, cookieStoreId) {
  if (tab.cookieStoreId === cookieStoreId) {
    return;
  }
  const { windowId, index, active, pinned } = tab;
  const page = /^https?:/.test(tab.url) ? { url: tab.url } : {}; // the URL of a new tab page cannot be opened
  await browser.tabs.create({ ...page, cookieStoreId, windowId, index: index + 1, active, pinned });
  await browser.tabs.remove(tab.id);
}

/** The next container. After the last one comes no container, then the first one. */
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
browser.runtime.onStartup.addListener(buildMenu); // containers may have changed meanwhile

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

// ── The action ──

/** Label the action of a window with the container of its active tab. Navigation would reset a label of the tab. */
async function label({ windowId, cookieStoreId }) {
  if (cookieStoreId === NO_CONTAINER) {
    await browser.action.setBadgeText({ windowId, text: null }); // null: the value for all windows
    await browser.action.setTitle({ windowId, title: null });
    return;
  }
  const container = await browser.contextualIdentities.get(cookieStoreId);
  await browser.action.setBadgeText({ windowId, text: container.name.slice(0, 3) });
  await browser.action.setBadgeBackgroundColor({ windowId, color: container.colorCode });
  await browser.action.setTitle({ windowId, title: container.name });
}

browser.tabs.onActivated.addListener(async ({ tabId }) => label(await browser.tabs.get(tabId)));
