// The entries of the activity that are known, newest first. They are read in pages, one read at a time, and events add
// to them: what arrives during a read is merged into its answer. Knows no page.

import {merged} from "./activity_rows.js";

const PAGE = 200; // entries that are read at a time
const MOST = 1000; // entries of one call
const RETENTION = 600_000; // ms: the server may delete older entries, as hatbox/store/tables/change_log.py

export class ActivityLog {
  // list: as hatbox.activity.list. onChange(): after every change. wanted(): how many earlier entries are needed now:
  // "none", "some" for a screen that is scrolled, "many" for a search.
  constructor(list, {onChange, wanted}) {
    Object.assign(this, {list, onChange, wanted});
    this.entries = [];
    this.isLoaded = false;
    this.isComplete = false; // the oldest entry is known
    this.failure = null; // why the last read failed
    this.arrived = []; // entries of events since the start of the read that is under way
    this.isStale = false;
    this.oldBefore = 0; // entries that are older than this time are to be read again; 0 for none
    this.isStopped = false;
    this.reading = null;
  }

  // Reads the newest entries, as many as were known.
  load() {
    this.isStale = true;
    return this.catchUp();
  }

  // Reads old entries again: the server deletes them without an event, and a page that is opened now has them no more.
  renewOld(now = Date.now()) {
    this.oldBefore = now - RETENTION;
    return this.catchUp();
  }

  // Reads what is stale, then earlier entries as long as they are wanted.
  catchUp() {
    this.reading ??= this.run().finally(() => {
      this.reading = null;
      this.arrived = [];
    });
    return this.reading;
  }

  // The payload of an event. all: entries were deleted, or missed.
  add({entries, all}) {
    if (this.reading) this.arrived.push(...entries);
    if (all) return this.load();
    this.entries = merged(this.entries, entries);
    return this.onChange();
  }

  stop() {
    this.isStopped = true;
  }

  async run() {
    while (!this.isStopped && (this.isStale || this.oldBefore || this.needsEarlier())) {
      this.arrived = [];
      try {
        if (this.isStale) await this.readNewest();
        else if (this.oldBefore) await this.readOld();
        else await this.readEarlier();
        this.failure = null;
      } catch (error) {
        this.failure = error.message; // the next event, scroll or "Try again" reads again
      }
      if (this.isStopped) return;
      this.onChange();
      if (this.failure) return;
    }
  }

  needsEarlier() {
    return this.isLoaded && !this.isComplete && this.entries.length > 0 && this.wanted() !== "none";
  }

  async readNewest() {
    this.isStale = false;
    const limit = Math.min(MOST, Math.max(PAGE, this.entries.length));
    const found = await this.list({limit}).catch((error) => {
      this.isStale = true;
      throw error;
    });
    if (this.isStale) return; // deleted entries may be in this answer
    this.entries = merged(found, this.arrived);
    this.isComplete = found.length < limit;
    this.isLoaded = true;
  }

  async readOld() {
    const first = this.entries.findIndex(({time}) => time < this.oldBefore);
    this.oldBefore = 0;
    if (first < 0) return;
    const [recent, old] = [this.entries.slice(0, first), this.entries.slice(first)];
    const found = await this.list({before: old[0].sequence + 1, limit: Math.min(MOST, old.length)});
    if (this.isStale) return;
    this.entries = merged([...recent, ...found], this.arrived);
    if (old.length > MOST) this.isComplete = false; // the others are read when they are wanted
  }

  async readEarlier() {
    const before = this.entries.reduce((first, entry) => Math.min(first, entry.firstSequence), Infinity);
    const earlier = await this.list({before, limit: this.wanted() === "many" ? MOST : PAGE});
    if (this.isStale) return;
    this.isComplete = !earlier.length;
    this.entries = merged(this.entries, earlier);
  }
}
