// The live list of identities that every screen shares. Filled once, then changed by events: the server names what
// changed, and only that is read again.

import {browser, connection} from "./api.js";
import {named} from "./identity_names.js";

const api = browser.hatbox.identities;
const MAX_IDS = 1000; // of one call of summaries; above, the list is read again
const RETRY = 3000; // ms after a read that failed

let order = []; // cookieStoreIds
let moves = 0; // moves that are sent and not confirmed: until then the order is that of the page
let stored = new Map(); // cookieStoreId → summary, as the server has it
let list = null; // order and stored with what waits, made when needed
let isLoaded = false;
let failure = null; // why the list could not be read
const waiting = new Map(); // cookieStoreId → patches that are queued and not confirmed
const listeners = new Set();

// What is to be read again; events arrive while an earlier read is under way.
let stale = {ids: new Set(), removed: new Set(), order: false, all: false};
let reading = null;
let retry = null; // the timer of the next attempt

function emit(change) {
  list = null;
  const full = {changed: new Set(), created: new Set(), order: false, all: false, ...change};
  for (const fn of [...listeners]) fn(full);
}

function shown(id) {
  const summary = stored.get(id);
  const patches = waiting.get(id);
  if (!summary || !patches) return summary;
  const patched = Object.assign({}, summary, ...patches);
  if (patched.isRemoved) return undefined;
  return patched.name === summary.name ? patched : named({...patched, storedName: undefined, isUnnamed: false});
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
  reading ??= readAllStale().finally(() => (reading = null));
  return reading;
}

// After a read that failed, what is stale is not known any more: everything is read, soon and without another change.
// A list that was never read has "Try again".
async function readAllStale() {
  clearTimeout(retry);
  try {
    while (hasWork()) await readStale(take());
  } catch (error) {
    stale.all = true;
    if (isLoaded) retry = setTimeout(update, RETRY);
    throw error;
  }
}

// Reads in the background: what was read before stays until it works.
function update() {
  return catchUp().catch(console.error);
}

async function readStale(taken) {
  if (taken.all || taken.ids.size > MAX_IDS) return readAll();
  const ids = [...taken.ids];
  const [summaries, newOrder] = await Promise.all([
    ids.length ? api.summaries(ids) : [],
    taken.order ? api.order() : null,
  ]);
  const found = new Set(summaries.map((summary) => summary.cookieStoreId));
  const created = new Set([...found].filter((id) => !stored.has(id)));
  for (const id of [...taken.removed, ...ids]) if (!found.has(id)) stored.delete(id);
  for (const summary of summaries) stored.set(summary.cookieStoreId, named(summary));
  if (newOrder && !moves) setOrder(newOrder);
  else order = [...order.filter((id) => stored.has(id)), ...[...created].filter((id) => !order.includes(id))];
  emit({changed: new Set([...ids, ...taken.removed]), created, order: taken.order});
}

// An identity of the order that is not known yet was just created: its event follows.
function setOrder(ids) {
  const listed = new Set(ids);
  order = ids.filter((id) => stored.has(id));
  for (const id of stored.keys()) if (!listed.has(id)) stored.delete(id);
}

async function readAll() {
  const summaries = await api.list();
  const created = new Set(isLoaded ? summaries.map((s) => s.cookieStoreId).filter((id) => !stored.has(id)) : []);
  stored = new Map(summaries.map((summary) => [summary.cookieStoreId, named(summary)]));
  const read = summaries.map((summary) => summary.cookieStoreId);
  if (moves) order = [...order.filter((id) => stored.has(id)), ...read.filter((id) => !order.includes(id))];
  else order = read;
  isLoaded = true;
  failure = null;
  emit({order: true, all: true, created});
}

function onChanged({changed = [], removed = [], order: isReordered = false, all = false}) {
  for (const id of changed) stale.ids.add(id);
  for (const id of removed) stale.removed.add(id);
  stale.order ||= isReordered;
  stale.all ||= all;
  if (isLoaded) update();
}

let isListening = false;

function listen() {
  isListening = true;
  api.onChanged.addListener(onChanged);
  connection.onResync(() => {
    stale.all = true;
    update();
  });
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
  // stored counts: when the promise rejects, the identity is shown as it was. patch: fields, or {isRemoved: true}.
  async sending(id, patch, promise) {
    const isQueued = !connection.online;
    if (isQueued) {
      waiting.set(id, [...(waiting.get(id) ?? []), patch]);
      emit({changed: new Set([id])});
    }
    try {
      const result = await promise;
      await identities.refresh(id).catch(console.error);
      return result;
    } catch (error) {
      if (error.wasDone) await identities.refresh(id).catch(console.error);
      throw error;
    } finally {
      if (isQueued) {
        const rest = waiting.get(id).filter((other) => other !== patch);
        if (rest.length) waiting.set(id, rest);
        else waiting.delete(id);
        emit({changed: new Set([id])});
      }
    }
  },

  // A move that is sent. The new order is shown at once: a card stays where it was dropped. What is stored is read
  // when no other move is under way, also after an error. to: the place in all(), which has no queued removals.
  async moving(id, to, promise) {
    const next = identities.all().filter((other) => other.cookieStoreId !== id)[to]?.cookieStoreId;
    const without = order.filter((other) => other !== id);
    const at = next === undefined ? without.length : without.indexOf(next);
    order = [...without.slice(0, at), id, ...without.slice(at)];
    moves += 1;
    emit({order: true});
    try {
      await promise;
    } finally {
      moves -= 1;
      stale.order = true;
      update();
    }
  },
};
