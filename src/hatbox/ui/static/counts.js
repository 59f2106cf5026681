// The numbers beside the entries of the navigation. A number that is not known is left out.

import {browser, connection} from "./api.js";
import {identities} from "./identities_state.js";

const MIN_DELAY = 250; // ms: numbers may lag behind the screens
const MAX_DELAY = 10_000;
const SHARE = 10; // a large profile is counted for at most a tenth of the time

let known = {};
let delay = MIN_DELAY;
let timer = null;
let stale = false;
let loading = false;
const listeners = new Set();

function changed() {
  for (const fn of listeners) fn();
}

async function load() {
  timer = null;
  if (loading) {
    stale = true;
    return;
  }
  loading = true;
  const started = performance.now();
  try {
    known = await browser.hatbox.getCounts();
    delay = Math.min(MAX_DELAY, Math.max(MIN_DELAY, SHARE * (performance.now() - started)));
    changed();
  } catch {
    // the numbers of before stay: they are decoration, the screens show what is wrong
  } finally {
    loading = false;
    if (stale) {
      stale = false;
      later();
    }
  }
}

function later() {
  timer ??= setTimeout(load, delay);
}

export const counts = {
  of(name) {
    return name === "identities" && identities.loaded ? identities.all().length : known[name];
  },

  onChange(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },

  start() {
    browser.hatbox.onCountsChanged.addListener(later);
    identities.onChange(changed);
    connection.onResync(later);
    load();
  },
};
