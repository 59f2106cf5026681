// The tabs of all identities, live while a screen shows them.

import {browser} from "./api.js";
import {LiveList} from "./live_list.js";
import {byPlace, isInPlace} from "./tab_order.js";

const api = browser.hatbox.tabs;
const found = new Map(); // id → tab

async function read(changes) {
  if (!changes) return readAll();
  for (const id of changes.flatMap((change) => change.removed)) found.delete(id);
  const ids = [...new Set(changes.flatMap((change) => change.changed))];
  const tabs = ids.length ? await api.list({ids}) : [];
  for (const id of ids) found.delete(id);
  for (const tab of tabs) found.set(tab.id, tab);
  // Others of the window may have new places too.
  if (!tabs.every((tab) => isInPlace(tab, found.values()))) await readAll();
}

async function readAll() {
  const tabs = await api.list();
  found.clear();
  for (const tab of tabs) found.set(tab.id, tab);
}

class Tabs extends LiveList {
  // All tabs, in the order of their windows.
  all() {
    return [...found.values()].sort(byPlace);
  }

  of(cookieStoreId) {
    return this.all().filter((tab) => tab.cookieStoreId === cookieStoreId);
  }
}

export const tabs = new Tabs(api.onChanged, read);
