// Imports rules of Multi-Account Containers and Containerise: from an extension in this profile, a file, or text.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h, icon, isUnavailable, plural} from "./dom.js";
import {acceptFiles, readText} from "./file_drops.js";
import {identities} from "./identities_state.js";
import {removeCreated} from "./identity_deletion.js";
import {dialog, menu, problem, toast} from "./layers.js";
import {thousands} from "./numbers.js";
import {changed} from "./undo.js";

const api = browser.hatbox.rules;
const MAX_BYTES = 4 * 2 ** 20;
const PROGRAMS = {
  mac: {
    name: "Multi-Account Containers",
    hint: "In Firefox, open about:debugging, choose This Firefox, and click Inspect beside Multi-Account Containers. Run " +
      "JSON.stringify(await browser.storage.local.get()) in its console, and save the result in a file. Drop " +
      "containers.json of the Firefox profile too: it has the names.",
  },
  containerise: {
    name: "Containerise",
    hint: "The file that its options page exports: lines such as “site.example , Work”.",
  },
};

export async function importMenu(anchor) {
  let sources = [];
  try {
    sources = await api.getImportSources();
  } catch (error) {
    return problem(anchor, error.message);
  }
  const items = Object.entries(PROGRAMS).flatMap(([program, {name}]) => [
    sources.includes(program) && {
      label: `From ${name} in this profile`,
      glyph: "ui-extensions",
      run: () => fromExtension(program, anchor),
    },
    {label: `From a file of ${name}…`, glyph: "ui-upload", run: () => fromFile(program)},
  ]);
  menu(anchor, items, "Import rules");
}

function fromExtension(program, anchor) {
  const change = async () => report(program, undefined, {}, await resultOf(api.importFrom(program)));
  return attempt(anchor, change, {control: anchor});
}

function fromFile(program) {
  const {name, hint} = PROGRAMS[program];
  const below = h("div", {id: "import-below"});
  const files = h("input", {type: "file", multiple: true, hidden: true, onchange: () => take([...files.files])});
  const text = h("textarea", {
    class: "field mono paste",
    rows: 6,
    spellcheck: "false",
    "aria-label": "Text to import",
    "aria-describedby": "import-below",
    placeholder: "or paste its text here",
  });
  const choose = btn("Choose a file", () => files.click(), {kind: "sm"});
  const words = h("span", {class: "grow"}, "Drop a file here to import it");
  const drop = h("div", {class: "drop"}, icon("ui-upload"), words, choose, files);
  const options = {};

  // containers.json may come first or last; it has the names, the other file the rules.
  async function take(given) {
    below.replaceChildren();
    if (!given.length) return; // a text or a link was dropped
    if (isUnavailable(submit)) return fail("Another file is being imported. Drop this one afterwards.");
    try {
      for (const file of given) {
        if (file.size > MAX_BYTES) throw new Error(`${file.name} is too large: at most 4 MB are read.`);
        const content = await readText(file, "a text file");
        if (program === "mac" && isContainers(content)) options.containers = content;
        else text.value = content;
      }
    } catch (error) {
      return fail(error.message);
    } finally {
      files.value = "";
    }
    if (text.value) await run();
    else if (options.containers) fail("This file has the names. Drop the file with the rules too.");
    else fail(`${given[0].name} is empty. Choose the file with the rules.`);
  }

  function fail(message) {
    below.replaceChildren(errorLine(message));
  }

  // One at a time: a second click, or a second file, would import it twice.
  function run() {
    below.replaceChildren();
    const sent = text.value;
    if (sent.length > MAX_BYTES) return fail("This text is too large: at most 4 MB are read."); // as the server says
    const change = async () => {
      const result = await resultOf(api.importFrom(program, sent, options));
      box.close();
      report(program, sent, options, result);
    };
    const onError = (error) => {
      if (!box.isConnected) return problem(null, `Nothing was imported. ${error.message}`);
      fail(error.message);
      text.focus();
    };
    return attempt(submit, change, {control: submit, onError});
  }

  const body = h("div", {class: "panel-gap"}, h("p", {class: "muted small"}, hint), drop, text, below);
  const submit = btn("Import", run, {kind: "primary"});
  const box = dialog(`Import from ${name}`, body, (close) => [btn("Cancel", close, {kind: "quiet"}), submit]);
  acceptFiles(box, {mark: drop, take});
}

function isContainers(content) {
  try {
    return Array.isArray(JSON.parse(content).identities);
  } catch {
    return false;
  }
}

// What was imported. A dialog only when something was left out; after the identities were created, that is known.
// result: null when it is lost.
function report(program, text, options, result) {
  if (!result) return toast(`Imported from ${PROGRAMS[program].name}. The report is lost: check the rules.`);
  const {added, created, unchanged, missing, existing, leftOut} = result;
  const offerUndo = () => {
    if (added.length) changed(`${plural(added.length, "rule")} imported.`, () => undo(added, created));
  };
  const isWhole = added.length && !missing.length && !existing.length && !leftOut.length;
  if (options.create || isWhole) return offerUndo();
  const below = h("div", {});
  const lines = reportLines({added, unchanged, missing, existing, leftOut});
  const body = h("div", {class: "panel-gap report"}, lines, below);
  const createMissing = async () => {
    const all = {...options, create: true};
    const next = await resultOf(api.importFrom(program, text, all));
    box.close();
    await isClosed; // the Undo of the first import comes first
    report(program, text, all, next);
  };
  const onError = (error) => {
    if (box.isConnected) below.replaceChildren(errorLine(error.message));
    else problem(null, `${label}: this failed. ${error.message}`);
  };
  const absent = missing.length === 1 ? missing[0] : plural(missing.length, "identity", "identities");
  const label = `Create ${absent}`;
  const create = btn(label, () => attempt(create, createMissing, {control: create, onError}), {kind: "primary"});
  const box = dialog(`Imported from ${PROGRAMS[program].name}`, body, (close) => [
    btn("Close", close, {kind: "quiet"}),
    missing.length > 0 && create,
  ]);
  // A message behind a modal dialog cannot be used.
  const isClosed = new Promise((resolve) => box.addEventListener("close", resolve)).then(offerUndo);
}

function reportLines({added, unchanged, missing, existing, leftOut}) {
  const first = added.length ? `${plural(added.length, "rule")} added.` : "No new rules.";
  const same = unchanged ? ` ${plural(unchanged, "rule was", "rules were")} present already.` : "";
  const others = plural(existing.length, "pattern has", "patterns have");
  const absent = `${plural(missing.length, "identity does", "identities do")} not exist`;
  const which = missing.length === 1 ? "Its" : "Their";
  return [
    h("p", {}, first + same),
    existing.length > 0 && section(`${others} another rule, which was not changed`, existing),
    leftOut.length > 0 && section(`${plural(leftOut.length, "rule")} cannot be imported`, leftOut.map(whyNot)),
    missing.length > 0 && section(`${absent}. ${which} rules were left out`, missing),
  ];
}

function whyNot({source, reason}) {
  return `${source}: ${reason}`;
}

const MOST = 50; // lines of a section

function section(title, lines) {
  const more = lines.length - MOST;
  const items = lines.slice(0, MOST).map((line) => h("li", {}, line));
  if (more > 0) items.push(h("li", {class: "muted"}, `${thousands(more)} more`));
  return h("section", {}, h("h3", {}, title), h("ul", {class: "lines small"}, items));
}

async function undo(added, created) {
  const known = new Set((await api.list()).map((rule) => rule.id));
  await resultOf(api.remove(added.filter((id) => known.has(id))));
  for (const id of created) if (identities.get(id)) await removeCreated(id);
}
