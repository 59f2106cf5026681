// Cookies of an identity to and from files: a download, a file that is chosen, a file that is dropped.

import {browser} from "../api.js";
import {attempt, resultOf} from "../attempt.js";
import {command} from "../commands.js";
import {btn, errorLine, h, icon, isUnavailable} from "../dom.js";
import {acceptFiles, readText} from "../file_drops.js";
import {dialog, menu, problem, toast} from "../layers.js";
import {ownerOf} from "../no_identity.js";
import {sentence} from "../sentences.js";
import {undoable} from "../undo.js";
import {offerUndo} from "./cookie_removal.js";
import {exportText, importText, isNothingImported, nothingImportedText} from "./cookie_texts.js";

const MAX_BYTES = 16 * 2 ** 20; // as hatbox.sites.importFile
const FORMATS = [
  ["cookies.txt (for curl)", "cookies.txt"],
  ["JSON lines", "json-lines"],
  ["Playwright storage state", "storage-state"],
];
const TYPES = {"cookies.txt": "text/plain", "json-lines": "application/jsonl", "storage-state": "application/json"};

// The button "Export" with its menu.
export function exportButton(cookieStoreId) {
  const items = FORMATS.map(([label, format]) => ({label, run: () => save(button, cookieStoreId, format)}));
  const button = btn("Export", () => menu(button, items, "Export as"), {kind: "sm", "aria-haspopup": "menu"});
  return button;
}

async function save(anchor, cookieStoreId, format) {
  try {
    const {isEncrypted} = await browser.hatbox.getProfile();
    if (isEncrypted) confirmPlain(anchor, cookieStoreId, format);
    else await download(cookieStoreId, format, false);
  } catch (error) {
    problem(anchor, error.message);
  }
}

function confirmPlain(anchor, cookieStoreId, format) {
  const name = ownerOf(cookieStoreId)?.name ?? "the identity";
  const text = sentence`This profile is encrypted. The file is plain text: with it, anyone is signed in as ${name}.`;
  dialog("Export plain text?", h("p", {}, text), (close) => {
    const run = () => {
      close();
      download(cookieStoreId, format, true).catch((error) => problem(anchor, error.message));
    };
    return [btn("Cancel", close, {kind: "quiet"}), btn("Export plain text", run, {kind: "danger solid"})];
  });
}

async function download(cookieStoreId, format, plain) {
  const file = await browser.hatbox.sites.exportFile(cookieStoreId, format, plain);
  const address = URL.createObjectURL(new Blob([file.text], {type: TYPES[format]}));
  const link = h("a", {href: address, download: file.name, hidden: true});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may still be reading it
  toast(exportText(file, ownerOf(cookieStoreId)?.name ?? "the identity"));
}

// Where files are dropped or chosen. area: the element that takes drops, around the place that shows them.
export class DropPlace {
  constructor(cookieStoreId, area) {
    this.cookieStoreId = cookieStoreId;
    this.message = h("div");
    const onchange = () => this.onPicked();
    this.picker = h("input", {type: "file", hidden: true, tabindex: "-1", "aria-label": "File of cookies", onchange});
    this.chooser = btn("Choose a file", () => this.picker.click(), {kind: "sm"});
    const wide = h("span", {class: "hide-narrow"}, "Drop a cookies.txt or JSON file here to import it");
    const narrow = h("span", {class: "only-phone-text"}, "Import a cookies.txt or JSON file");
    this.box = h("div", {class: "drop"}, icon("ui-upload"), h("span", {}, wide, narrow), this.chooser, this.picker);
    this.el = h("div", {}, this.box, this.message);
    this.destroy = acceptFiles(area, {mark: this.box, take: (files) => this.take(files)});
  }

  onPicked() {
    const files = [...this.picker.files];
    this.picker.value = ""; // the same file can be chosen again
    this.take(files);
  }

  take(files) {
    this.message.replaceChildren();
    if (!files.length) return;
    if (files.length > 1) return this.fail("Import one file at a time.");
    if (isUnavailable(this.chooser)) return this.fail("Another file is being imported. Drop this one afterwards.");
    const onError = (error) => this.fail(error.message);
    attempt(this.chooser, () => undoable((done) => this.importFile(files[0], done)), {control: this.chooser, onError});
  }

  async importFile(file, done) {
    const text = await readCookies(file);
    const report = await resultOf(sendCookies(this.cookieStoreId, file.name, text));
    const name = ownerOf(this.cookieStoreId)?.name ?? "the identity";
    if (!report) toast(sentence`${file.name}: its cookies were imported into ${name}.`);
    else if (isNothingImported(report)) this.fail(nothingImportedText(file.name, name, report));
    else offerUndo(done, importText(file.name, name, report), report.undo);
  }

  fail(message) {
    this.message.replaceChildren(errorLine(message));
  }
}

function readCookies(file) {
  if (file.size > MAX_BYTES) throw tooLarge(`${file.name} is larger than 16 MB.`);
  return readText(file, "a cookies.txt, JSON lines or storage state file");
}

// A file that is small enough may be too large as JSON, which has six characters for a control character.
async function sendCookies(cookieStoreId, name, text) {
  try {
    return await browser.hatbox.sites.importFile(cookieStoreId, name, text);
  } catch (error) {
    throw error.kind === "MessageTooLarge" ? tooLarge(`${name} is too large to be sent.`) : error;
  }
}

function tooLarge(what) {
  return new Error(`${what} Import it in a terminal with: ${command("import")}`);
}
