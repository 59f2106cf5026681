// Imports identities of other programs: from browsers of this machine, or from a file. What is found is shown first.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h, plural, setUnavailable, tile} from "./dom.js";
import {readText} from "./file_drops.js";
import {dialog, menu, problem, toast} from "./layers.js";
import {thousands} from "./numbers.js";
import {undoable} from "./undo.js";
import {importUndoText} from "./undo_words.js";

const api = browser.hatbox.imports;
const MAX_BYTES = 16 * 2 ** 20; // as hatbox.imports
const PROGRAMS = {firefox: "Firefox", chromium: "Chromium"};
const WANTED = "containers.json of a Firefox profile, or a JSON lines file of hatbox export";

export async function importMenu(anchor) {
  let sources = [];
  try {
    sources = await api.sources();
  } catch (error) {
    return problem(anchor, error.message);
  }
  const items = sources.map((source) => ({
    label: `From ${PROGRAMS[source.program]}: ${source.name}`,
    glyph: "ui-window",
    run: () => show({folder: source.folder}, `${PROGRAMS[source.program]}, ${source.name}`, anchor),
  }));
  menu(anchor, [...items, {label: "From a file…", glyph: "ui-upload", run: () => choose(anchor)}], "Import identities");
}

function choose(anchor) {
  const picker = h("input", {type: "file", hidden: true, "aria-label": "File of identities"});
  picker.addEventListener("change", () => {
    const [file] = picker.files;
    picker.remove();
    if (file) fromFile(file, anchor);
  });
  picker.addEventListener("cancel", () => picker.remove());
  document.body.append(picker);
  picker.click();
}

function fromFile(file, anchor) {
  const read = async () => {
    if (/\.hatbox$/i.test(file.name)) {
      throw new Error(`${file.name} is a backup, or a shared identity. Choose it under “Trash, backups”.`);
    }
    if (file.size > MAX_BYTES) throw new Error(`${file.name} is larger than 16 MB. Nothing was imported.`);
    await preview({name: file.name, text: await readText(file, WANTED)}, file.name);
  };
  return attempt(anchor, read, {control: anchor});
}

function show(source, name, anchor) {
  return attempt(anchor, () => preview(source, name), {control: anchor});
}

async function preview(source, name) {
  const {identities, leftOut} = await api.preview(source);
  if (!identities.length) throw new Error(`${name} has no identities and no cookies.`);
  const chosen = new Set(identities.map(({key}) => key));
  const below = h("div", {});
  const paint = () => setUnavailable(submit, !chosen.size);
  const choice = (found) => {
    const onchange = (event) => {
      if (event.target.checked) chosen.add(found.key);
      else chosen.delete(found.key);
      paint();
    };
    const text = h("span", {class: "grow ellipsis", dir: "auto"}, found.name);
    const size = h("span", {class: "small muted nowrap"}, sizeOf(found));
    const parts = [h("input", {type: "checkbox", checked: true, onchange}), tile({...found, hidden: false}), text, size];
    return h("li", {}, h("label", {class: "line import-choice"}, parts));
  };
  const run = () => undoable(async (done) => {
    const result = await resultOf(api.run(source, [...chosen]));
    box.close();
    if (!result?.undo) return toast(result ? resultText(result) : `Imported from ${name}.`);
    const {undo} = result;
    const onExpire = () => api.forget(undo).catch(console.error);
    const revert = async () => {
      const text = importUndoText(await api.undo(undo));
      if (text) toast(text);
    };
    return done(resultText(result), revert, {whileToast: true, onExpire});
  });
  const onError = (error) => below.replaceChildren(errorLine(error.message));
  const submit = btn("Import", () => attempt(submit, run, {control: submit, onError}), {kind: "primary"});
  const body = [
    h("p", {}, "An identity with the same name gets the cookies. All others stay as they are."),
    h("ul", {class: "import-list", "aria-label": "Identities to import"}, identities.map(choice)),
    leftOut.length > 0 && h("p", {class: "small muted"}, `Cannot be imported: ${leftOut.map(leftOutText).join("; ")}.`),
    below,
  ];
  const box = dialog(`Import from ${name}`, h("div", {class: "dlg-text"}, body.filter(Boolean)), (close) => [
    btn("Cancel", close, {kind: "quiet"}),
    submit,
  ]);
}

function sizeOf({cookies, sites}) {
  return [plural(cookies, "cookie"), sites > 0 && `data of ${plural(sites, "site")}`].filter(Boolean).join(", ");
}

function leftOutText({what, count}) {
  return count ? `${what} (${thousands(count)})` : what;
}

function resultText({created, matched, cookies}) {
  const parts = [
    created > 0 && `${plural(created, "identity", "identities")} created`,
    matched > 0 && `${plural(matched, "identity", "identities")} found again`,
    `${plural(cookies, "cookie")} imported`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}
