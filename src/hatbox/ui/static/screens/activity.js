// Activity: what changed, and which program on which machine did it?

import {ActivityLog} from "../activity_log.js";
import {author, rowsOf} from "../activity_rows.js";
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
const LIVE = "Changes appear here as they happen, with the program that made them.";
const RETENTION = "are stored for about 10 minutes, while a program has the profile open."; // hatbox/store/tables/change_log.py

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
    const head = header(title, "What changed, and which program did it");
    root.append(h("div", {class: "main-in narrow fill"}, head, this.tools, this.scroller));
    this.repaint = () => this.paint();
    this.log = new ActivityLog((options) => api.list(options), {onChange: this.repaint, wanted: () => this.wanted()});
    this.scroller.addEventListener("scroll", () => this.log.catchUp(), {passive: true});
    this.onAdded = (added) => this.add(added);
    api.onAdded.addListener(this.onAdded);
    narrow.addEventListener("change", this.repaint);
    this.stop = [
      identities.onChange(this.repaint),
      everyMinute(() => {
        this.paint();
        this.log.renewOld();
      }),
      connection.onResync(() => this.log.load()),
      () => api.onAdded.removeListener(this.onAdded),
      () => narrow.removeEventListener("change", this.repaint),
      () => this.log.stop(),
    ];
    afterAMoment(this.log.load(), () => this.log.isLoaded || this.showOther("loading"));
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
    const known = new Set(this.log.entries.map((entry) => entry.id));
    const fresh = added.entries.filter((entry) => !known.has(entry.id)).map((entry) => entry.id);
    for (const id of fresh) this.fresh.add(id);
    setTimeout(() => fresh.forEach((id) => this.fresh.delete(id)), FLASH);
    this.log.add(added);
  }

  filter(text) {
    this.query = text;
    this.paint();
  }

  paint() {
    const {entries, failure, isLoaded} = this.log;
    if (!isLoaded && !failure) return;
    const rows = rowsOf(entries, this.query);
    this.tools.hidden = !entries.length;
    this.list.host.hidden = !rows.length;
    this.keepPlace(() => this.list.set(rows));
    this.showOther(this.stateOf(rows));
    this.log.catchUp();
  }

  // What is shown below the rows, or in place of them.
  stateOf(rows) {
    const {entries, failure, isComplete} = this.log;
    if (failure && (!entries.length || this.wanted() !== "none")) return "error";
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
    const key = `${state} ${state === "error" ? this.log.failure : this.query}`;
    if (this.other.dataset.key === key) return;
    this.other.dataset.key = key;
    this.other.replaceChildren(...[this.otherContent(state)].filter(Boolean));
  }

  otherContent(state) {
    if (state === "empty") return empty("ui-activity", "No recent changes", `${LIVE} They ${RETENTION}`);
    if (state === "end") return h("p", {class: "act-end small muted"}, `Changes ${RETENTION}`);
    if (state === "error") return loadError(this.log.failure, () => this.log.catchUp());
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
