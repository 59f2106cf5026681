// What a screen shows and the server changes: read when the first follower comes, and read again when an event says so.
// One read at a time, so that a late answer cannot overwrite a newer one.

import {connection} from "./api.js";

const RETRY = 3000; // ms after a read that failed
const MAX_IDS = 1000; // that one call accepts

export class LiveList {
  // event: of the API. read(changes): reads what the payloads of the event name; null for everything.
  constructor(event, read) {
    this.event = event;
    this.read = read;
    this.loaded = false;
    this.error = null; // why the list could not be read
    this.followers = new Set();
    this.waiting = []; // payloads of events that are not read yet
    this.isStale = false; // everything is to be read
    this.reading = null;
    this.onEvent = (change) => this.add(change);
  }

  // fn() after every change and now, when the list is loaded. Returns a function that removes it.
  follow(fn) {
    this.followers.add(fn);
    if (this.followers.size === 1) this.start();
    else if (this.loaded || this.error) fn();
    return () => {
      this.followers.delete(fn);
      if (!this.followers.size) this.stop();
    };
  }

  start() {
    this.event.addListener(this.onEvent);
    this.stopResync = connection.onResync(() => this.reload());
    this.reload();
  }

  stop() {
    this.event.removeListener(this.onEvent);
    this.stopResync();
    clearTimeout(this.timer);
    this.loaded = false;
  }

  reload() {
    this.isStale = true;
    return this.catchUp();
  }

  add(change) {
    if (change.all) this.isStale = true;
    else this.waiting.push(change);
    this.catchUp();
  }

  catchUp() {
    this.reading ??= this.run().finally(() => (this.reading = null));
    return this.reading;
  }

  async run() {
    while (this.isStale || this.waiting.length) {
      const changes = this.isStale ? null : this.waiting;
      this.waiting = [];
      this.isStale = false;
      try {
        await this.read(changes);
        this.loaded = true;
        this.error = null;
      } catch (error) {
        this.error = error.message;
        this.isStale = true; // the changes that this read was for are not known any more
      }
      this.notify();
      if (this.error !== null) {
        this.retryLater();
        return;
      }
    }
  }

  // A list that is shown must not stay wrong. One that was never read has "Try again".
  retryLater() {
    clearTimeout(this.timer);
    if (this.loaded && this.followers.size) this.timer = setTimeout(() => this.catchUp(), RETRY);
  }

  notify() {
    for (const fn of [...this.followers]) fn();
  }
}

// A list that is short enough to be read whole. api: a namespace with list() and onChanged.
export class WholeList extends LiveList {
  constructor(api) {
    super(api.onChanged, async () => {
      this.found = await api.list();
    });
    this.found = [];
  }

  all() {
    return this.found;
  }
}

// A list of which an event names what has changed, and only that is read again.
// api: a namespace with list(ids?) and onChanged({ids, all}). key(item): its id. compare: the order of the items.
export class PartialList extends LiveList {
  constructor(api, {key, compare}) {
    super(api.onChanged, (changes) => this.readNamed(changes));
    this.api = api;
    this.key = key;
    this.compare = compare;
    this.found = new Map(); // id → item
  }

  async readNamed(changes) {
    const ids = changes && [...new Set(changes.flatMap((change) => change.ids))];
    const isPartial = ids && ids.length <= MAX_IDS;
    const items = await (isPartial ? this.api.list(ids) : this.api.list());
    if (isPartial) for (const id of ids) this.found.delete(id);
    else this.found.clear();
    for (const item of items) this.found.set(this.key(item), item);
  }

  // All items, in their order.
  all() {
    return [...this.found.values()].sort(this.compare);
  }
}
