// Activity: what did which program on which machine? The changes of the profile, which are stored for minutes, and the
// entries of the activity log, which are stored for 30 days, in one list.

import {ActivityLog} from "../activity_log.js";
import {author, isShortest, rowsOf, together} from "../activity_rows.js";
import {browser, connection} from "../api.js";
import {btn, empty, h, icon, tile} from "../dom.js";
import {identities} from "../identities_state.js";
import {named} from "../identity_names.js";
import {afterAMoment, header, loadError, searchBox, skeletonRows} from "../screen_parts.js";
import {clockTime, everyMinute, exactTime} from "../times.js";
import {VirtualList} from "../virtual_list.js";

export const title = "Activity";

const api = browser.hatbox.activity;
const AHEAD = 1200; // px before the end at which earlier entries are read
const FLASH = 1600; // ms
const LIVE = "Changes appear here as they happen, with the program that made them, and what agents and programs do.";
// hatbox/store/tables/change_log.py, hatbox/store/grant_tables.py
const RETENTION = "Changes are stored for about 10 minutes, while a program has the profile open. What programs with a " +
  "grant did is stored for 30 days, and with “Record activity” in the settings of an identity what all programs do as it.";

const narrow = matchMedia("(max-width: 1000px)");

export function mount(root) {
  const screen = new ActivityScreen(root);
  return {unmount: () => screen.unmount()};
}

class ActivityScreen {
  constructor(root) {
    this.fresh = new Set(); // ids of entries that arrived just now
    this.query = "";
    this.scroller = h("div", {class: "scroll", role: "region", "aria-label": "Changes", tabindex: "0"});
    this.other = h("div", {class: "measure"});
    this.list = new VirtualList(this.scroller, {
      label: "Activity",
      cls: "measure act-list",
      key: (row) => row.key,
      create: (row) => this.row(row),
      signature: (row) => this.signature(row),
      size: () => ({minWidth: 0, height: narrow.matches ? 54 : 36, gap: 0}),
    });
    this.tools = h("div", {class: "tools"}, searchBox("Filter by name or program", "", (text) => this.filter(text)));
    this.scroller.append(this.list.host, this.other);
    const head = header(title, "What was done, and which program did it");
    root.append(h("div", {class: "main-in narrow fill"}, head, this.tools, this.scroller));
    this.repaint = () => this.paint();
    const logOf = (list) => {
      const log = new ActivityLog(list, {onChange: this.repaint, wanted: () => this.wantedOf(log)});
      return log;
    };
    this.changes = logOf((options) => api.list(options));
    this.recorded = logOf((options) => api.recorded(options));
    this.logs = [this.changes, this.recorded];
    this.scroller.addEventListener("scroll", () => this.catchUp(), {passive: true});
    this.onAdded = (added) => this.add(added);
    this.onRecorded = () => this.readRecorded();
    api.onAdded.addListener(this.onAdded);
    api.onRecorded.addListener(this.onRecorded);
    narrow.addEventListener("change", this.repaint);
    this.stop = [
      identities.onChange(this.repaint),
      everyMinute(() => {
        this.paint();
        this.changes.renewOld();
      }),
      connection.onResync(() => this.load()),
      () => api.onAdded.removeListener(this.onAdded),
      () => api.onRecorded.removeListener(this.onRecorded),
      () => narrow.removeEventListener("change", this.repaint),
      ...this.logs.map((log) => () => log.stop()),
    ];
    afterAMoment(this.load(), () => this.isLoaded || this.showOther("loading"));
  }

  get isLoaded() {
    return this.logs.every((log) => log.isLoaded);
  }

  get failure() {
    return this.logs.find((log) => log.failure)?.failure ?? null;
  }

  load() {
    return Promise.all(this.logs.map((log) => log.load()));
  }

  catchUp() {
    return Promise.all(this.logs.map((log) => log.catchUp()));
  }

  wantedOf(log) {
    return isShortest(log, this.logs) ? this.wanted() : "none";
  }

  // One read at a time. An entry that has grown has its id.
  async readRecorded() {
    this.isRecordedStale = true;
    if (this.isReadingRecorded) return;
    this.isReadingRecorded = true;
    while (this.isRecordedStale) {
      this.isRecordedStale = false;
      const entries = await api.recorded({}).catch(console.error); // the next entry reads again
      if (entries) this.show(this.recorded, {entries, all: false});
    }
    this.isReadingRecorded = false;
  }

  unmount() {
    for (const stop of this.stop) stop?.();
    this.list.destroy();
  }

  // Earlier entries are needed when the end is near, also of the few that a filter has found.
  wanted() {
    const {scrollTop, clientHeight, scrollHeight} = this.scroller;
    if (scrollTop + clientHeight + AHEAD < scrollHeight) return "none";
    return this.query.trim() ? "many" : "some";
  }

  add(added) {
    this.show(this.changes, added);
    if (added.all) this.recorded.load(); // those of a deleted identity are gone
  }

  show(log, added) {
    const known = new Set(log.entries.map((entry) => entry.id));
    const fresh = added.entries.filter((entry) => !known.has(entry.id)).map((entry) => entry.id);
    for (const id of fresh) this.fresh.add(id);
    setTimeout(() => fresh.forEach((id) => this.fresh.delete(id)), FLASH);
    log.add(added);
  }

  filter(text) {
    this.query = text;
    this.paint();
  }

  paint() {
    if (!this.isLoaded && !this.failure) return;
    const entries = together(this.logs);
    const rows = rowsOf(entries, this.query);
    this.tools.hidden = !entries.length;
    this.list.host.hidden = !rows.length;
    this.keepPlace(() => this.list.set(rows));
    this.showOther(this.stateOf(entries, rows));
    this.catchUp();
  }

  // What is shown below the rows, or in place of them.
  stateOf(entries, rows) {
    const isComplete = this.logs.every((log) => log.isComplete);
    if (this.failure && (!entries.length || this.wanted() !== "none")) return "error";
    if (!entries.length) return "empty";
    if (isComplete) return rows.length ? "end" : "nothing found";
    return this.query.trim() && this.wanted() !== "none" ? "looking" : "";
  }

  // What arrives above must not move what is being read.
  keepPlace(change) {
    const {scroller, list} = this;
    const before = scroller.scrollTop;
    const top = before > 0 && list.geometry ? Math.floor((before - list.offset()) / list.geometry.height) : -1;
    const key = list.items[top]?.key;
    change();
    const now = key === undefined ? -1 : list.indexOf(key);
    if (now >= 0 && now !== top) scroller.scrollTop = before + (now - top) * list.geometry.height;
  }

  // Drawn once for each state: a button in it keeps the focus.
  showOther(state) {
    const key = `${state} ${state === "error" ? this.failure : this.query}`;
    if (this.other.dataset.key === key) return;
    this.other.dataset.key = key;
    this.other.replaceChildren(...[this.otherContent(state)].filter(Boolean));
  }

  otherContent(state) {
    if (state === "empty") return empty("ui-activity", "No recent activity", `${LIVE} ${RETENTION}`);
    if (state === "end") return h("p", {class: "act-end small muted"}, RETENTION);
    if (state === "error") return loadError(this.failure, () => this.catchUp());
    if (state === "loading") return skeletonRows("Loading changes");
    if (state === "looking") return h("p", {class: "muted looking", role: "status"}, "Searching earlier changes…");
    if (state !== "nothing found") return null;
    const clear = btn("Clear search", () => {
      const field = this.tools.querySelector("input");
      field.value = "";
      this.filter("");
      field.focus();
    });
    return empty("ui-search", "Nothing found", `No change matches “${this.query.trim()}”.`, clear);
  }

  identityOf({cookieStoreId, identity}) {
    return identities.get(cookieStoreId) ?? (identity && named({...identity, cookieStoreId}));
  }

  signature({day, entry, isFirst, isLast}) {
    if (day) return day;
    const {name, color, icon: glyph, hidden} = this.identityOf(entry) ?? {};
    return JSON.stringify([entry.text, entry.time, isFirst, isLast, name, color, glyph, hidden]);
  }

  row({day, entry, isFirst, isLast}) {
    if (day) return h("div", {class: "day-row"}, h("h2", {class: "day"}, day));
    const identity = this.identityOf(entry);
    const isNew = this.fresh.delete(entry.id);
    const cls = ["act", isNew && "is-new", isFirst && "is-first", isLast && "is-last"].filter(Boolean).join(" ");
    const by = author(entry);
    return h(
      "div",
      {class: cls},
      h("time", {class: "num", title: exactTime(entry.time)}, clockTime(entry.time)),
      identity ? tile(identity) : h("span", {class: "fav", "aria-hidden": "true"}, icon("ui-brand")),
      h(
        "div",
        {class: "what"},
        identity && [h("b", {title: identity.name}, h("bdi", {class: "ellipsis"}, identity.name)), " "],
        h("span", {class: "ellipsis", title: entry.text}, entry.text),
      ),
      h("span", {class: "by ellipsis", title: by}, by),
    );
  }
}
