// Temporary containers: the action, or a shortcut, opens a tab in a new container. When the last tab of the container
// is closed, the container and its cookies are removed.
//
// storage.local has a key for each temporary container. So concurrent changes do not overwrite each other, and
// containers of the last session are known after a restart.

const COLORS = ["blue", "turquoise", "green", "yellow", "orange", "red", "pink", "purple"];

async function openTemporaryTab() {
  const number = await freeNumber();
  const { cookieStoreId } = await browser.contextualIdentities.create({
    name: `Temporary ${number}`,
    color: COLORS[number % COLORS.length],
    icon: "circle",
  });
  await browser.tabs.create({ cookieStoreId });
  // Stored after the tab is created: a container without tabs is removed when any other tab is closed.
  await browser.storage.local.set({ [cookieStoreId]: true });
  await removeUnused(); // the tab may already be closed
}

/** The first unused number. */
async function freeNumber() {
  const names = (await browser.contextualIdentities.query({})).map((container) => container.name);
  let number = 1;
  while (names.includes(`Temporary ${number}`)) {
    number += 1;
  }
  return number;
}

/** Remove the temporary containers that have no tab. The one that is being closed may still be listed. */
async function removeUnused(closedTabId) {
  for (const cookieStoreId of Object.keys(await browser.storage.local.get())) {
    const tabs = await browser.tabs.query({ cookieStoreId });
    if (tabs.every((tab) => tab.id === closedTabId)) {
      await forget(cookieStoreId);
    }
  }
}

async function forget(cookieStoreId) {
  await browser.storage.local.remove(cookieStoreId);
  try {
    await browser.contextualIdentities.remove(cookieStoreId);
  } catch {
    // It was already removed, by the user or because another tab was closed.
  }
}

browser.action.onClicked.addListener(openTemporaryTab);
browser.commands.onCommand.addListener((command) => {
  if (command === "new-temporary-tab") {
    return openTemporaryTab();
  }
});

browser.tabs.onRemoved.addListener((tabId) => removeUnused(tabId));
browser.runtime.onStartup.addListener(() => removeUnused());
browser.contextualIdentities.onRemoved.addListener(({ contextualIdentity }) =>
  browser.storage.local.remove(contextualIdentity.cookieStoreId),
);
