// Temporary containers: the button, or a key, opens a tab in a container that is made for it. What is opened from
// there stays in it; when its last tab is closed, the container goes, and all cookies with it.
//
// Which containers are temporary is kept in storage.local, each under a key of its own: two that are opened at the
// same moment do not overwrite each other, and those of the last session are known after a restart.

const COLORS = ["blue", "turquoise", "green", "yellow", "orange", "red", "pink", "purple"];

async function openTemporaryTab() {
  const number = await freeNumber();
  const { cookieStoreId } = await browser.contextualIdentities.create({
    name: `Temporary ${number}`,
    color: COLORS[number % COLORS.length],
    icon: "circle",
  });
  await browser.tabs.create({ cookieStoreId });
  // Noted only now: a container without tabs would be removed if another tab was closed at this moment.
  await browser.storage.local.set({ [cookieStoreId]: true });
  await removeUnused(); // its tab may be closed already
}

/** The first number that no container has. */
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
    // The user was faster, or the closing of another tab.
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
