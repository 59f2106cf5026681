// The removed identities: restore one, delete one or all forever. Only visible rows are in the DOM.

import {browser} from "./api.js";
import {btn, empty, h, iconButton, plural, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {dialog, problem, toast} from "./layers.js";
import {LiveList} from "./live_list.js";
import {loadError} from "./screen_parts.js";
import {exactTime, timeAgo} from "./times.js";
import {changed} from "./undo.js";
import {VirtualList} from "./virtual_list.js";

const api = browser.hatbox.trash;
const PHONE = 640; // px, as in the style sheets

export class TrashSection {
  constructor(scroller) {
    this.removed = [];
    this.live = new LiveList(api.onChanged, async () => {
      this.removed = await api.list();
    });
    this.days = h("span", {class: "muted small grow"});
    this.emptyButton = btn("Empty trash", () => this.askToEmpty(), {kind: "danger", disabled: true});
    this.heading = h("h2", {tabindex: "-1"}, "Trash");
    this.list = new VirtualList(scroller, {
      label: "Removed identities",
      cls: "box trash-rows",
      key: (entry) => entry.trashId,
      create: (entry) => this.makeRow(entry),
      signature: (entry) => JSON.stringify([entry, timeAgo(entry.removedAt)]),
      size: () => ({minWidth: 0, height: innerWidth <= PHONE ? 56 : 46, gap: 0}),
    });
    this.other = h("div", {});
    const head = h("div", {class: "line"}, this.heading, this.days, this.emptyButton);
    this.el = h("section", {class: "panel-gap", "aria-label": "Trash"}, head, this.list.host, this.other);
    this.list.host.hidden = true;
    this.stop = this.live.follow(() => this.paint());
    this.showDays();
  }

  async showDays() {
    try {
      const {trashDays} = await browser.hatbox.getProfile();
      const stay = trashDays ? `stay for ${plural(trashDays, "day")}.` : "are deleted at once: the trash is switched off.";
      this.days.textContent = `Removed identities ${stay}`;
    } catch {
      this.days.textContent = ""; // decoration
    }
  }

  paint() {
    const {removed, live} = this;
    this.emptyButton.disabled = !removed.length;
    this.list.host.hidden = !removed.length;
    this.list.set(removed);
    const name = live.error && !live.loaded ? "error" : live.loaded && !removed.length ? "empty" : "";
    if (this.other.dataset.name === name) return;
    this.other.dataset.name = name;
    this.other.replaceChildren(...this.makeOther(name));
  }

  makeOther(name) {
    if (name === "error") return [loadError(this.live.error, () => this.live.reload())];
    const text = "What you remove comes here first.";
    return name === "empty" ? [h("div", {class: "box"}, empty("ui-trash", "The trash is empty", text))] : [];
  }

  makeRow(entry) {
    const left = entry.daysLeft ? `${plural(entry.daysLeft, "day")} left` : "Deleted soon";
    const restore = btn("Restore", () => this.restore(entry), {
      kind: "sm",
      "data-part": "restore",
      "aria-label": `Restore ${entry.name}`,
    });
    const remove = iconButton("ui-trash", `Delete ${entry.name} forever`, () => this.askToDelete(entry), {
      "data-part": "delete",
    });
    const when = timeAgo(entry.removedAt);
    const below = [h("span", {class: "only-phone-text"}, `${left}: `), contentsOf(entry)];
    return h(
      "div",
      {class: "row"},
      tile(entry, "t28"),
      h("div", {class: "grow"}, h("div", {class: "title ellipsis"}, entry.name), h("div", {class: "url ellipsis"}, below)),
      h("span", {class: "when hide-narrow", title: exactTime(entry.removedAt)}, `Removed ${when === "now" ? "just now" : when}`),
      h("span", {class: "when num days hide-narrow"}, left),
      h("div", {class: "quick line"}, restore, remove),
    );
  }

  button(entry, part) {
    return this.list.cell(entry.trashId)?.querySelector(`[data-part="${part}"]`) ?? this.heading;
  }

  async restore(entry) {
    const {trashId, name} = entry;
    const index = this.list.indexOf(trashId);
    try {
      const {cookieStoreId: id} = await api.restore(trashId);
      changed(`${name} is back, with its id, tabs and cookies.`, async () => {
        await browser.hatbox.identities.remove(id);
        await this.live.reload();
      });
      await Promise.all([this.live.reload(), identities.refresh(id)]);
      this.focusNear(index);
    } catch (error) {
      problem(this.button(entry, "restore"), error.message);
    }
  }

  // The row is gone, and with it the focus.
  focusNear(index) {
    if (document.activeElement !== document.body) return;
    if (this.removed.length) this.list.focus(Math.min(index, this.removed.length - 1), "restore");
    else this.heading.focus();
  }

  askToDelete(entry) {
    const index = this.list.indexOf(entry.trashId);
    const text = `${contentsOf(entry)}. This cannot be undone.`;
    this.ask(`Delete ${entry.name} forever?`, text, "Keep it", "Delete forever", async () => {
      await api.remove(entry.trashId);
      toast(`${entry.name} deleted forever.`);
      await this.live.reload();
      this.focusNear(index);
    });
  }

  askToEmpty() {
    const count = plural(this.removed.length, "identity", "identities");
    const are = this.removed.length === 1 ? "is" : "are";
    const text = `${count} with everything in them ${are} deleted. This cannot be undone.`;
    this.ask("Empty the trash?", text, "Keep them", "Empty trash", async () => {
      const deleted = await api.empty();
      toast(`${plural(deleted, "identity", "identities")} deleted forever.`);
      await this.live.reload();
      this.focusNear(0);
    });
  }

  ask(title, text, safe, verb, run) {
    const confirm = async (close) => {
      close();
      try {
        await run();
      } catch (error) {
        problem(this.heading, error.message);
      }
    };
    dialog(title, h("p", {}, text), (close) => [
      btn(safe, close, {kind: "quiet"}),
      btn(verb, () => confirm(close), {kind: "danger solid"}),
    ]);
  }

  destroy() {
    this.stop();
    this.list.destroy();
  }
}

// "31 cookies, 4 tabs"
function contentsOf({cookies, tabs}) {
  return `${cookies ? plural(cookies, "cookie") : "No cookies"}, ${tabs ? plural(tabs, "tab") : "no tabs"}`;
}
