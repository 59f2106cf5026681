// The live list of identities that every screen shares. Filled once, then changed by events: the server names what
// changed, and only that is read again.

import {browser, connection} from "./api.js";

let order = []; // cookieStoreIds
let stored = new Map(); // cookieStoreId → summary, as the server has it
let list = null; // order and stored with what waits, made when needed
let isLoaded = false;
let failure = null; // why the list could not be read
const waiting = new Map(); // cookieStoreId → patches that are queued and not confirmed
const listeners = new Set();

// What is to be read again; events arrive while an earlier read is under way.
let stale = {ids: new Set(), removed: new Set(), order: false, all: false};
let reading = null;

function emit(change) {
  list = null;
  const full = {changed: new Set(), created: new Set(), order: false, all: false, ...change};
  for (const fn of [...listeners]) fn(full);
}

function shown(id) {
  const summary = stored.get(id);
  const patches = waiting.get(id);
  return summary && patches ? Object.assign({}, summary, ...patches) : summary;
}

function take() {
  const taken = stale;
  stale = {ids: new Set(), removed: new Set(), order: false, all: false};
  return taken;
}

function hasWork() {
  return stale.all || stale.order || stale.ids.size > 0 || stale.removed.size > 0;
}

// Reads what is stale until nothing is. One read at a time: a late answer cannot overwrite a newer one.
function catchUp() {
  reading ??= (async () => {
    try {
      while (hasWork()) await readStale(take());
    } finally {
      reading = null;
    }
  })();
  return reading;
}

async function readStale(taken) {
  if (taken.all || taken.order) return readAll();
  for (const id of taken.removed) stored.delete(id);
  const ids = [...taken.ids].filter((id) => !taken.removed.has(id));
  const summaries = ids.length ? await browser.hatbox.identities.summaries(ids) : [];
  const found = new Set(summaries.map((summary) => summary.cookieStoreId));
  const created = new Set([...found].filter((id) => !stored.has(id)));
  for (const id of ids) if (!found.has(id)) stored.delete(id);
  for (const summary of summaries) stored.set(summary.cookieStoreId, summary);
  order = [...order.filter((id) => stored.has(id)), ...[...created]];
  emit({changed: new Set([...ids, ...taken.removed]), created});
}

async function readAll() {
  const summaries = await browser.hatbox.identities.list();
  const created = new Set(isLoaded ? summaries.map((s) => s.cookieStoreId).filter((id) => !stored.has(id)) : []);
  stored = new Map(summaries.map((summary) => [summary.cookieStoreId, summary]));
  order = summaries.map((summary) => summary.cookieStoreId);
  isLoaded = true;
  emit({order: true, all: true, created});
}

function onChanged({changed = [], removed = [], order: isReordered = false, all = false}) {
  for (const id of changed) stale.ids.add(id);
  for (const id of removed) stale.removed.add(id);
  stale.order ||= isReordered;
  stale.all ||= all;
  if (isLoaded) catchUp().catch(retryLater);
}

let isListening = false;

function listen() {
  isListening = true;
  browser.hatbox.identities.onChanged.addListener(onChanged);
  connection.onStatus(() => {
    if (!connection.online || !isLoaded) return;
    stale.all = true; // events of the time without a connection are lost
    catchUp().catch(retryLater);
  });
}

// The connection was lost during a read: everything is read again when it is back.
function retryLater() {
  stale.all = true;
}

export const identities = {
  get loaded() {
    return isLoaded;
  },

  // Why the list could not be loaded; null while it is loading and when it is loaded.
  get error() {
    return failure;
  },

  // All identities in the user's order.
  all() {
    list ??= order.map(shown).filter(Boolean);
    return list;
  },

  get(id) {
    return shown(id);
  },

  // fn({changed: Set of ids, created: Set of ids, order, all}). Returns a function that removes it.
  onChange(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },

  // Reads the list for the first time. Listens first, so that no change in between is missed.
  async load() {
    if (!isListening) listen();
    failure = null;
    stale.all = true;
    try {
      await catchUp();
    } catch (error) {
      failure = error.message;
      emit({all: true});
    }
  },

  // Reads one identity again and resolves when it is shown.
  async refresh(id) {
    stale.ids.add(id);
    await catchUp();
  },

  // A change that is sent: while the connection is lost it is shown at once, as it is queued. Afterwards what is
  // stored counts: when the promise rejects, the identity is shown as it was.
  async sending(id, patch, promise) {
    const isQueued = !connection.online;
    if (isQueued) {
      waiting.set(id, [...(waiting.get(id) ?? []), patch]);
      emit({changed: new Set([id])});
    }
    try {
      const result = await promise;
      await identities.refresh(id);
      return result;
    } finally {
      if (isQueued) {
        const rest = waiting.get(id).filter((other) => other !== patch);
        if (rest.length) waiting.set(id, rest);
        else waiting.delete(id);
        emit({changed: new Set([id])});
      }
    }
  },

  // A move that is sent. The new order is shown at once: a card stays where it was dropped.
  async moving(id, to, promise) {
    const before = order;
    const without = order.filter((other) => other !== id);
    order = [...without.slice(0, to), id, ...without.slice(to)];
    const optimistic = order;
    emit({order: true});
    try {
      await promise;
    } catch (error) {
      if (order === optimistic) order = before;
      emit({order: true});
      stale.order = true;
      catchUp().catch(retryLater);
      throw error;
    }
  },
};
