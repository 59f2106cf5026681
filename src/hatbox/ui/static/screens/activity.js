// Activity: what changed, and which program on which machine did it?

import {author, merged, rowsOf} from "../activity_rows.js";
import {browser, connection} from "../api.js";
import {btn, empty, h, icon, tile} from "../dom.js";
import {identities} from "../identities_state.js";
import {afterAMoment, header, loadError, searchBox} from "../screen_parts.js";
import {clockTime, everyMinute, exactTime} from "../times.js";
import {VirtualList} from "../virtual_list.js";

export const title = "Activity";

const api = browser.hatbox.activity;
const PAGE = 200; // entries that are read at a time
const AHEAD = 1200; // px before the end at which earlier entries are read
const FLASH = 1600; // ms

const narrow = matchMedia("(max-width: 1000px)");

export function mount(root) {
  const screen = new ActivityScreen(root);
  return {unmount: () => screen.unmount()};
}

class ActivityScreen {
  constructor(root) {
    this.entries = [];
    this.fresh = new Set(); // ids of entries that arrived just now
    this.query = "";
    this.isComplete = false;
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
    this.scroller.addEventListener("scroll", () => this.readMore(), {passive: true});
    this.onAdded = (added) => this.add(added);
    this.repaint = () => this.paint();
    api.onAdded.addListener(this.onAdded);
    narrow.addEventListener("change", this.repaint);
    this.stop = [
      identities.onChange(this.repaint),
      everyMinute(this.repaint),
      connection.onResync(() => this.load()),
      () => api.onAdded.removeListener(this.onAdded),
      () => narrow.removeEventListener("change", this.repaint),
    ];
    this.load();
  }

  unmount() {
    for (const stop of this.stop) stop?.();
    this.list.destroy();
  }

  // Reads the newest entries, as many as were shown.
  async load() {
    const limit = Math.min(1000, Math.max(PAGE, this.entries.length));
    const loading = api.list({limit});
    if (!this.entries.length) afterAMoment(loading, () => this.showOther("loading"));
    try {
      this.entries = merged([], await loading);
      this.isComplete = this.entries.length < limit;
      this.failure = null;
    } catch (error) {
      this.failure = error.message;
    }
    this.paint();
  }

  async readMore() {
    const {scrollTop, clientHeight, scrollHeight} = this.scroller;
    if (this.isComplete || this.isReading || !this.entries.length) return;
    if (scrollTop + clientHeight + AHEAD < scrollHeight) return;
    this.isReading = true;
    try {
      const before = Math.min(...this.entries.map((entry) => entry.firstSequence));
      const earlier = await api.list({before, limit: PAGE});
      this.isComplete = !earlier.length;
      this.entries = merged(this.entries, earlier);
      this.paint();
    } catch (error) {
      this.isComplete = true; // the next visit of this screen tries again
      console.error(error);
    } finally {
      this.isReading = false;
    }
  }

  add({entries, all}) {
    const known = new Set(this.entries.map((entry) => entry.id));
    const added = entries.filter((entry) => !known.has(entry.id)).map((entry) => entry.id);
    for (const id of added) this.fresh.add(id);
    setTimeout(() => added.forEach((id) => this.fresh.delete(id)), FLASH);
    if (all) {
      this.load();
    } else {
      this.entries = merged(this.entries, entries);
      this.paint();
    }
  }

  filter(text) {
    this.query = text;
    this.paint();
  }

  paint() {
    const rows = rowsOf(this.entries, this.query);
    const hasEntries = this.entries.length > 0;
    this.tools.hidden = !hasEntries;
    this.list.host.hidden = !rows.length;
    this.keepPlace(() => this.list.set(rows));
    if (this.failure && !hasEntries) this.showOther("error");
    else this.showOther(rows.length ? "" : hasEntries ? "nothing found" : "empty");
    this.readMore();
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
    const text = "Every change of this profile appears here as it happens, with the program that made it.";
    if (state === "empty") return empty("ui-activity", "Nothing here yet", text);
    if (state === "error") return loadError(this.failure, () => this.load());
    if (state === "loading") return h("p", {class: "muted", role: "status"}, "Loading…");
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
    return identities.get(cookieStoreId) ?? identity;
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
      h("div", {class: "what ellipsis", title: entry.text}, identity && h("b", {}, identity.name), identity && " ", entry.text),
      h("span", {class: "by ellipsis", title: by}, by),
    );
  }
}
