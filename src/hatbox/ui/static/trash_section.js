// The removed identities: restore one, delete one or all forever. Only visible rows are in the DOM.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, empty, h, iconButton, plural, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {removeRestored} from "./identity_deletion.js";
import {named} from "./identity_names.js";
import {dialog, menu, toast} from "./layers.js";
import {PartialList} from "./live_list.js";
import {isPhone} from "./phone.js";
import {loadError, skeletonAfter} from "./screen_parts.js";
import {sentence} from "./sentences.js";
import {everyMinute, exactTime} from "./times.js";
import {contentsOf, leftText, removedText} from "./trash_words.js";
import {forgetChanges, undoable} from "./undo.js";
import {VirtualList} from "./virtual_list.js";

const api = browser.hatbox.trash;

// The last removed first; those of one moment by their ids.
const byRemoval = (one, other) =>
  other.removedAt - one.removedAt || other.trashId.localeCompare(one.trashId, "en", {numeric: true});

export class TrashSection {
  constructor(scroller) {
    this.live = new PartialList(api, {key: (entry) => entry.trashId, compare: byRemoval});
    this.removed = [];
    this.hasTrash = true;
    this.days = h("span", {class: "muted small grow"});
    this.emptyButton = btn("Empty trash", () => this.askToEmpty(), {kind: "danger", disabled: true});
    this.heading = h("h2", {tabindex: "-1"}, "Trash");
    this.list = new VirtualList(scroller, {
      label: "Removed identities",
      cls: "box trash-rows",
      key: (entry) => entry.trashId,
      create: (entry) => this.makeRow(entry),
      signature: (entry) => JSON.stringify(entry),
      size: () => ({minWidth: 0, height: isPhone() ? 56 : 46, gap: 0}),
    });
    this.other = h("div", {});
    const head = h("div", {class: "line"}, this.heading, this.days, this.emptyButton);
    this.el = h("section", {class: "panel-gap", "aria-label": "Trash"}, head, this.list.host, this.other);
    this.list.host.hidden = true;
    const isReady = () => this.live.loaded || this.live.error;
    this.stop = [
      this.live.follow(() => {
        this.paint();
        this.showDays(); // a change of this setting is one of the trash
      }),
      everyMinute(() => this.showTimes()),
      skeletonAfter(this.other, "Loading the trash", isReady),
    ];
  }

  async showDays() {
    try {
      const {trashDays} = await browser.hatbox.getProfile();
      this.hasTrash = trashDays > 0;
      const off = "are deleted at once: the trash is switched off.";
      const stay = trashDays ? `stay for ${plural(trashDays, "day")}.` : off;
      this.days.textContent = `Removed identities ${stay}`;
    } catch {
      this.days.textContent = ""; // decoration
    }
  }

  paint() {
    const {live} = this;
    const removed = (this.removed = live.all().map(named));
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
    const left = leftText(entry);
    const restore = btn("Restore", () => this.restore(entry), {
      kind: "sm hide-narrow",
      "data-part": "restore",
      "aria-label": `Restore ${entry.name}`,
    });
    const remove = iconButton("ui-trash", `Delete ${entry.name} forever`, () => this.askToDelete(entry), {
      class: "icon-btn hide-narrow",
      "data-part": "delete",
    });
    const more = iconButton("ui-dots", `Actions for ${entry.name}`, () => menu(more, this.items(entry), entry.name), {
      "aria-haspopup": "menu",
      class: "icon-btn only-phone",
      "data-part": "more",
    });
    const wide = h("span", {class: "hide-narrow"}, contentsOf(entry));
    const below = h("div", {class: "url ellipsis"}, wide, h("span", {class: "only-phone-text left"}, left));
    return h(
      "div",
      {class: "row"},
      tile(entry, "t28"),
      h("div", {class: "grow"}, h("div", {class: "title ellipsis", dir: "auto"}, entry.name), below),
      h("span", {class: "when removed ellipsis hide-narrow", title: removedTitle(entry)}, removedText(entry)),
      h("span", {class: "when num days left hide-narrow"}, left),
      h("div", {class: "quick line"}, restore, remove, more),
    );
  }

  items(entry) {
    return [
      {label: "Restore", glyph: "ui-clone", run: () => this.restore(entry)},
      "-",
      {label: "Delete forever", glyph: "ui-trash", danger: true, run: () => this.askToDelete(entry)},
    ];
  }

  // "4 min ago" and "30 days left" become wrong by themselves.
  showTimes() {
    for (const [key, cell] of this.list.cells) {
      const entry = this.list.items[this.list.indexOf(key)];
      cell.querySelector(".removed").textContent = removedText(entry);
      for (const left of cell.querySelectorAll(".left")) left.textContent = leftText(entry);
    }
  }

  // The visible button with which an entry is restored.
  button(entry) {
    const buttons = this.list.cell(entry.trashId)?.querySelectorAll("button") ?? [];
    return [...buttons].find((button) => button.checkVisibility()) ?? this.heading;
  }

  async restore(entry) {
    const {trashId, name} = entry;
    const index = this.list.indexOf(trashId);
    const text = sentence`${name} is back, with its id, tabs and cookies.`;
    const change = async (done) => {
      const {cookieStoreId: id} = await api.restore(trashId);
      const undo = async () => {
        await removeRestored(id, name);
        await this.live.reload();
      };
      if (this.hasTrash) done(text, undo);
      else toast(text); // it could not go back
      await Promise.all([this.live.reload(), identities.refresh(id)]);
      this.focusNear(index);
    };
    const options = {key: `restore ${trashId}`, control: this.button(entry), done: text};
    await attempt(() => this.button(entry), () => undoable(change), options);
  }

  // The row is gone, and with it the focus.
  focusNear(index) {
    if (document.activeElement !== document.body) return;
    const part = isPhone() ? "more" : "restore";
    if (this.removed.length) this.list.focus(Math.min(index, this.removed.length - 1), part);
    else this.heading.focus();
  }

  askToDelete(entry) {
    const index = this.list.indexOf(entry.trashId);
    const text = `${contentsOf(entry)}. This cannot be undone.`;
    const control = () => this.button(entry);
    this.ask(sentence`Delete ${entry.name} forever?`, text, "Keep it", "Delete forever", control, async () => {
      await resultOf(api.remove(entry.trashId));
      forgetChanges((subject) => subject === entry.trashId);
      toast(sentence`${entry.name} deleted forever.`);
      await this.live.reload();
      this.focusNear(index);
    });
  }

  // Deletes those that the question is about: what is removed later may be needed for an Undo.
  askToEmpty() {
    const ids = this.removed.map((entry) => entry.trashId);
    const count = plural(ids.length, "identity", "identities");
    const are = ids.length === 1 ? "is" : "are";
    const text = `${count} with everything in them ${are} deleted. This cannot be undone.`;
    this.ask("Empty the trash?", text, "Keep them", "Empty trash", () => this.emptyButton, async () => {
      const deleted = await resultOf(api.empty(ids));
      forgetChanges((subject) => ids.includes(subject));
      toast(deleted === null ? "Trash emptied." : `${plural(deleted, "identity", "identities")} deleted forever.`);
      await this.live.reload();
      this.focusNear(0);
    });
  }

  // control(): the button beside which waiting and errors are shown when the dialog is closed.
  ask(title, text, safe, verb, control, run) {
    const confirm = (close) => {
      close();
      return attempt(control, run, {control: control()});
    };
    dialog(title, h("p", {}, text), (close) => [
      btn(safe, close, {kind: "quiet"}),
      btn(verb, () => confirm(close), {kind: "danger solid"}),
    ]);
  }

  destroy() {
    for (const stop of this.stop) stop();
    this.list.destroy();
  }
}

// The program again: a long name is cut in the row.
function removedTitle({removedAt, removedBy}) {
  return `${exactTime(removedAt)}${removedBy ? ` by ${removedBy}` : ""}`;
}
