// Writes one identity into an encrypted file, for another profile or another person.

import {browser} from "./api.js";
import {sizeText} from "./archive_words.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, h} from "./dom.js";
import {dialog, toast} from "./layers.js";
import {askNewPassphrase} from "./passphrase_dialog.js";
import {startedHere} from "./restore_dialog.js";
import {sentence} from "./sentences.js";
import {clockTime, fullDate} from "./times.js";

const api = browser.hatbox.archives;
const NOT_IN_NAMES = /[^\p{L}\p{N} _-]+/gu; // of files
const MAX_NAME = 60;

export function shareIdentity(identity, anchor) {
  const {name} = identity;
  const reason = sentence`Everyone who has the file and its passphrase is signed in as ${name}. Send the passphrase another way. The file goes into the folder of backups.`;
  const run = (passphrase) => attempt(anchor, () => write(identity, passphrase), {control: anchor});
  askNewPassphrase({title: sentence`Share ${name}`, label: "Write the file", reason, run});
}

async function write({cookieStoreId, name}, passphrase) {
  const id = crypto.randomUUID();
  startedHere.add(id);
  const now = Date.now();
  const file = `${name.slice(0, MAX_NAME)} ${fullDate(now)} ${clockTime(now)}`.replace(NOT_IN_NAMES, "-").trim();
  const options = {id, passphrase, identities: [cookieStoreId], name: file};
  const made = await resultOf(api.backup(options));
  if (!made) return toast(sentence`${name} is in a file in the folder of backups.`);
  const {folder} = await api.list();
  const path = `${folder}/${made.name}`;
  const body = [
    h("p", {}, sentence`${name} is in this file (${sizeText(made.size)}), with its cookies, tabs, site data and settings:`),
    h("p", {class: "mono path"}, path),
    h("p", {class: "muted"}, "To take it over, choose the file under “Trash, backups” on the other side."),
  ];
  dialog("File written", h("div", {class: "dlg-text"}, body), (close) => [
    btn("Copy path", () => navigator.clipboard.writeText(path).then(() => toast("Copied.")), {kind: "quiet"}),
    btn("Close", close, {kind: "primary"}),
  ]);
}
