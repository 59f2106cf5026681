// The live sites of all identities, or of one: read once, then only what an event names.

import {browser, connection} from "./api.js";
import {SiteIndex} from "./site_index.js";

const MAX_IDS = 1000; // of one call of list; above, everything is read again
const RETRY = 3000; // ms after a read that failed

export class SiteFeed {
  // only: a cookieStoreId, or null for all. onUpdate(changed): a Set of cookieStoreIds, or null for everything.
  constructor(only, onUpdate) {
    this.only = only;
    this.onUpdate = onUpdate;
    this.index = new SiteIndex();
    this.isLoaded = false;
    this.error = null; // why nothing could be read
    this.stale = {ids: new Set(), all: true};
    this.reading = null;
    this.isStopped = false;
    this.onChanged = ({cookieStoreIds, all}) => this.invalidate(all ? null : cookieStoreIds);
  }

  // Listens first, so that no change in between is missed.
  start() {
    browser.hatbox.sites.onChanged.addListener(this.onChanged);
    this.stopResync = connection.onResync(() => this.invalidate(null));
    return this.load();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.retry);
    browser.hatbox.sites.onChanged.removeListener(this.onChanged);
    this.stopResync?.();
  }

  // Reads everything, also after an error.
  load() {
    this.stale.all = true;
    return this.catchUp();
  }

  invalidate(ids) {
    const own = this.only && ids ? ids.filter((id) => id === this.only) : ids;
    if (own === null) this.stale.all = true;
    else for (const id of own) this.stale.ids.add(id);
    if (this.stale.all || this.stale.ids.size) this.catchUp();
  }

  // One read at a time: a late answer cannot overwrite a newer one.
  catchUp() {
    this.reading ??= this.read().finally(() => (this.reading = null));
    return this.reading;
  }

  async read() {
    clearTimeout(this.retry);
    while (!this.isStopped && (this.stale.all || this.stale.ids.size)) {
      const {ids, all} = this.stale;
      this.stale = {ids: new Set(), all: false};
      try {
        await this.readStale(ids, all || ids.size > MAX_IDS);
      } catch (error) {
        this.stale.all = true; // what this read was for is not known any more
        this.fail(error);
        return;
      }
    }
  }

  async readStale(ids, all) {
    const wanted = this.only ? [this.only] : all ? null : [...ids];
    const sites = await browser.hatbox.sites.list(wanted ? {cookieStoreIds: wanted} : {});
    if (this.isStopped) return;
    if (wanted) this.index.replace(wanted, sites);
    else this.index.set(sites);
    this.isLoaded = true;
    this.error = null;
    this.onUpdate(wanted && new Set(wanted));
  }

  fail(error) {
    if (this.isStopped) return;
    if (this.isLoaded) {
      console.error(error); // what was read before stays, and is read again soon
      this.retry = setTimeout(() => this.catchUp(), RETRY);
    } else {
      this.error = error.message; // shown with "Try again"
    }
    this.onUpdate(null);
  }
}
