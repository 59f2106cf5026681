// The order of tabs, in groups by identity, and which of them a search finds. Pure.

export function byPlace(one, other) {
  return one.windowId - other.windowId || one.position - other.position;
}

// Whether the place of a tab among these is the one that the profile says.
export function isInPlace(tab, all) {
  let before = 0;
  for (const other of all) if (other.windowId === tab.windowId && other.position < tab.position) before += 1;
  return before === tab.index;
}

// [{identity, tabs}] in the order of the identities; without those that have no tabs. Tabs of no identity come last.
export function grouped(tabs, identities, other) {
  const byStore = new Map();
  for (const tab of tabs) {
    if (!byStore.has(tab.cookieStoreId)) byStore.set(tab.cookieStoreId, []);
    byStore.get(tab.cookieStoreId).push(tab);
  }
  const known = [...identities, other];
  return known
    .filter((identity) => byStore.has(identity.cookieStoreId))
    .map((identity) => ({identity, tabs: byStore.get(identity.cookieStoreId)}));
}

// The groups with tabs whose title or address, or whose identity's name, contains all words.
export function searched(groups, text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return groups;
  const has = (content) => words.every((word) => content.includes(word));
  return groups
    .map(({identity, tabs}) => {
      const name = identity.name.toLowerCase();
      return {identity, tabs: tabs.filter((tab) => has(`${name} ${tab.title} ${tab.url}`.toLowerCase()))};
    })
    .filter((group) => group.tabs.length);
}

// Rows of one list: the head of each group, then its tabs.
export function rowsOf(groups) {
  return groups.flatMap(({identity, tabs}) => [
    {key: `g${identity.cookieStoreId}`, identity, count: tabs.length},
    ...tabs.map((tab, index) => ({key: `t${tab.id}`, tab, identity, isLast: index === tabs.length - 1})),
  ]);
}

// "mail.example/inbox": an address without its scheme. Other addresses are shown whole.
export function shortAddress(url) {
  return url === "about:blank" ? "" : url.replace(/^https?:\/\//, "");
}

// The host whose letter stands before a tab.
export function hostOf(url) {
  return /^https?:\/\/(?:www\.)?([^/:?#]+)/i.exec(url)?.[1] ?? "";
}
