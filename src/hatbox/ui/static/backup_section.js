// The backups of the profile: make one with a progress bar, restore one, delete one. What another page has started, or
// this one before it was reloaded, has its progress and its end here too.

import {browser, connection} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {errorText, sizeText} from "./archive_words.js";
import {btn, empty, errorLine, h, icon, iconButton, isUnavailable, setUnavailable} from "./dom.js";
import {acceptFiles} from "./file_drops.js";
import {sendFile} from "./file_upload.js";
import {dialog, menu, toast} from "./layers.js";
import {LiveList} from "./live_list.js";
import {Meter} from "./meter.js";
import {thousands} from "./numbers.js";
import {askNewPassphrase} from "./passphrase_dialog.js";
import {restoreDialog, startedHere} from "./restore_dialog.js";
import {loadError} from "./screen_parts.js";
import {dayAndTime, exactTime} from "./times.js";

const api = browser.hatbox.archives;
const MOST = 200; // backups that are listed
const UPLOAD = {
  begin: (name, size) => api.beginUpload(name, size),
  add: (token, part) => api.addUploadPart(token, part),
  cancel: (token) => api.cancelUpload(token),
};

export class BackupSection {
  constructor() {
    this.backups = [];
    this.live = new LiveList({
      // Its event has no payload.
      addListener: (fn) => api.onChanged.addListener((this.onChanged = () => fn({all: true}))),
      removeListener: () => api.onChanged.removeListener(this.onChanged),
    }, () => this.read());
    this.operation = null; // the id of the backup that this page writes
    this.meter = new Meter("Backup");
    this.status = h("span", {class: "small muted num", "aria-hidden": "true"}); // the progress bar says it
    this.start = btn("Back up now", () => this.backUp());
    this.more = iconButton("ui-dots", "Other ways to back up", () => this.showMenu(), {"aria-haspopup": "menu"});
    this.heading = h("h2", {tabindex: "-1"}, "Backups");
    this.folder = h("p", {class: "small muted"});
    this.message = h("div", {});
    this.rows = h("ul", {class: "box", "aria-label": "Backups", hidden: true});
    this.other = h("div", {});
    const everything = "Everything: identities, cookies, tabs, rules, site data, extensions.";
    const note = h("span", {class: "muted small grow hide-narrow"}, everything);
    const gap = h("span", {class: "grow only-phone-text"});
    const head = h("div", {class: "line sect"}, this.heading, note, gap, this.status, this.start, this.more);
    this.el = h("section", {class: "panel-gap sect", "aria-label": "Backups"}, head, this.meter.el, this.message);
    this.el.append(this.rows, this.other, this.makeDrop(), this.folder);
    this.onProgress = (progress) => this.showProgress(progress);
    api.onProgress.addListener(this.onProgress);
    const stopList = this.live.follow(() => this.paint());
    const stopResync = connection.onResync(() => this.operation === null && this.endProgress()); // its end may be lost
    this.stop = () => [stopList, stopResync].forEach((each) => each());
  }

  async read() {
    const {folder, backups} = await api.list();
    this.message.replaceChildren(); // an error of the folder is over
    this.backups = backups;
    this.folder.textContent = `Backups are saved in ${folder}`;
  }

  paint() {
    const {backups, live} = this;
    this.rows.hidden = !backups.length;
    const drawn = JSON.stringify(backups);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.replaceRows(backups);
    }
    const isEmpty = live.loaded && !backups.length;
    if (live.error) this.other.replaceChildren(loadError(live.error, () => live.reload()));
    else this.other.replaceChildren(...(isEmpty ? [noBackups()] : []));
  }

  // A row keeps its element, so that focus stays.
  replaceRows(backups) {
    const before = new Map([...this.rows.children].map((row) => [row.dataset.drawn, row]));
    const rows = backups.slice(0, MOST).map((backup) => before.get(JSON.stringify(backup)) ?? this.makeRow(backup));
    const focused = document.activeElement;
    const more = backups.length - rows.length;
    const text = `${thousands(more)} older backups are in the folder.`;
    if (more > 0) rows.push(h("li", {class: "row muted"}, text));
    this.rows.replaceChildren(...rows);
    if (focused !== document.activeElement && focused.isConnected) focused.focus();
  }

  makeRow(backup) {
    const {name, created, size, isEncrypted, isWhole, problem: wrong} = backup;
    const kind = [isEncrypted && "encrypted", isWhole === false && "some identities"];
    const facts = [dayAndTime(created), sizeText(size), ...kind];
    const remove = {label: "Delete forever", glyph: "ui-trash", danger: true, run: () => this.askToDelete(backup)};
    const openMenu = () => menu(more, [remove], name);
    const more = iconButton("ui-dots", `Actions for ${name}`, openMenu, {"aria-haspopup": "menu"});
    const restore = btn("Restore", () => restoreDialog(backup, () => this.rowOf(backup)), {
      kind: "sm",
      "aria-label": `Restore from ${name}`,
    });
    const fault = wrong && h("span", {class: "fault", title: wrong}, icon("ui-warn"), errorText(wrong));
    const below = fault || facts.filter(Boolean).join(", ");
    const text = h("div", {class: "grow"}, h("div", {class: "title ellipsis", title: name}, name));
    text.append(h("div", {class: "url ellipsis", title: exactTime(created)}, below));
    const row = h("li", {class: "row"}, text, h("div", {class: "quick line"}, !wrong && restore, more));
    row.dataset.drawn = JSON.stringify(backup);
    return row;
  }

  showProgress({id, kind, done, total, state, error}) {
    const isOwn = id === this.operation;
    if (kind === "preview" || (startedHere.has(id) && !isOwn)) return; // shown elsewhere, or late
    if (state === "running") {
      this.meter.name(kind === "backup" ? "Backup" : "Restore");
      this.meter.show({done, total});
      this.status.textContent = `${Math.floor((total ? done / total : 0) * 100)} %`;
    } else if (!isOwn) this.showEnd(kind, state, error);
  }

  // The end of what this page has not started: its call has no result here.
  showEnd(kind, state, error) {
    const wasShown = !this.meter.el.hidden;
    this.endProgress();
    if (state === "failed") {
      const problem = kind === "backup" ? "No backup was written." : "The backup was not restored.";
      this.message.replaceChildren(errorLine([problem, error].filter(Boolean).join(" ")));
    } else if (wasShown) toast(kind === "backup" ? "Backup written." : "Restored from a backup.");
  }

  endProgress() {
    this.meter.hide();
    this.status.textContent = "";
  }

  showMenu() {
    const label = "Back up with a passphrase";
    menu(this.more, [{label, glyph: "ui-key", run: () => this.askPassphrase()}], "Other ways to back up");
  }

  // The buttons of a backup, for an error beside them; the heading when it is gone.
  rowOf(backup) {
    const row = [...this.rows.children].find((each) => each.dataset.drawn === JSON.stringify(backup));
    return row?.querySelector("button") ?? this.heading;
  }

  async backUp() {
    let isEncrypted = false;
    await this.attempt(async () => {
      ({isEncrypted} = await browser.hatbox.getProfile());
      if (!isEncrypted) await this.write({});
    });
    if (isEncrypted) this.askPassphrase("This profile is encrypted, so its backup needs a passphrase.");
  }

  attempt(change) {
    const onError = (error) => this.message.replaceChildren(errorLine(error.message));
    return attempt(this.start, change, {control: this.start, onError});
  }

  // While this page writes a backup; null afterwards.
  setOperation(id) {
    this.operation = id;
    for (const control of [this.start, this.more]) setUnavailable(control, id !== null);
  }

  async write(options) {
    this.message.replaceChildren();
    const id = crypto.randomUUID();
    startedHere.add(id);
    this.setOperation(id);
    this.meter.name("Backup");
    this.meter.start();
    try {
      const made = await resultOf(api.backup({...options, id}));
      toast(made ? `Backup written: ${made.name}, ${sizeText(made.size)}.` : "Backup written.");
      await this.live.reload();
    } finally {
      this.setOperation(null);
      this.endProgress();
    }
  }

  askPassphrase(reason) {
    const run = (passphrase) => this.attempt(() => this.write({passphrase}));
    askNewPassphrase({title: "Back up with a passphrase", label: "Back up now", reason, run});
  }

  // A backup from elsewhere is copied into the folder first.
  take(files) {
    this.uploadMessage.replaceChildren();
    if (!files.length) return;
    const onError = (error) => this.uploadMessage.replaceChildren(errorLine(error.message));
    if (files.length > 1) return onError(new Error("Restore one file at a time."));
    if (isUnavailable(this.chooser)) return onError(new Error("Another file is being read. Drop this one afterwards."));
    return attempt(this.chooser, () => this.upload(files[0]), {control: this.chooser, onError});
  }

  async upload(file) {
    this.uploadMeter.start();
    try {
      const uploaded = await api.endUpload(await sendFile(file, UPLOAD, (progress) => this.uploadMeter.show(progress)));
      await this.live.reload();
      restoreDialog(uploaded, () => this.rowOf(uploaded));
    } finally {
      this.uploadMeter.hide();
    }
  }

  makeDrop() {
    const picker = h("input", {type: "file", hidden: true, tabindex: "-1", "aria-label": "File of a backup"});
    picker.addEventListener("change", () => {
      const files = [...picker.files];
      picker.value = ""; // the same file can be chosen again
      this.take(files);
    });
    this.chooser = btn("Choose a file", () => picker.click(), {kind: "sm"});
    this.uploadMeter = new Meter("Reading the file");
    this.uploadMessage = h("div", {});
    const wide = h("span", {class: "hide-narrow"}, "Drop a backup or a shared identity from elsewhere here to restore it");
    const narrow = h("span", {class: "only-phone-text"}, "Restore a file from elsewhere");
    const drop = h("div", {class: "drop"}, icon("ui-upload"), h("span", {}, wide, narrow), this.chooser, picker);
    this.stopDrops = acceptFiles(this.el, {mark: drop, take: (files) => this.take(files)});
    return h("div", {}, drop, this.uploadMeter.el, this.uploadMessage);
  }

  askToDelete(backup) {
    const {name, size} = backup;
    const change = async () => {
      await resultOf(api.remove(name));
      toast(`${name} deleted forever.`);
      await this.live.reload();
      if (document.activeElement === document.body) this.heading.focus();
    };
    const run = (close) => {
      close();
      return attempt(() => this.rowOf(backup), change, {key: `delete ${name}`, control: this.rowOf(backup)});
    };
    dialog(`Delete ${name} forever?`, h("p", {}, `${sizeText(size)}. This cannot be undone.`), (close) => [
      btn("Keep it", close, {kind: "quiet"}),
      btn("Delete forever", () => run(close), {kind: "danger solid"}),
    ]);
  }

  destroy() {
    startedHere.delete(this.operation); // the next section shows how it goes on
    api.onProgress.removeListener(this.onProgress);
    this.stop();
    this.stopDrops();
  }
}

function noBackups() {
  const text = "A backup is one file with everything. It can be restored here, or on another machine.";
  return h("div", {class: "box"}, empty("ui-clone", "No backups yet", text));
}
