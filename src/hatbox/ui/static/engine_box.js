// The box of the engines: which run, where, for whom; Start and Stop.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h, plural} from "./dom.js";
import {engineStarted, engines} from "./engines_state.js";
import {identities} from "./identities_state.js";
import {problem} from "./layers.js";
import {tabs} from "./tabs_state.js";
import {exactTime} from "./times.js";
import {undoable} from "./undo.js";

const api = browser.hatbox.engines;

// An element with update(): call it when tabs or identities have changed, and destroy() at the end.
export function engineBox() {
  const box = h("section", {class: "box engines", "aria-label": "Engines", hidden: true});
  const rows = new Map(); // id → {el, signature}

  function update() {
    if (engines.error && !rows.size) {
      box.hidden = false;
      box.replaceChildren(h("div", {class: "row"}, errorLine(engines.error), btn("Try again", () => engines.reload())));
      return;
    }
    if (!engines.loaded) return;
    box.hidden = false;
    const all = engines.all();
    const before = new Map(rows);
    rows.clear();
    for (const engine of all) {
      const signature = JSON.stringify([engine, stateText(engine, all)]);
      const known = before.get(engine.id);
      const el = known?.signature === signature ? known.el : engineRow(engine, stateText(engine, all));
      rows.set(engine.id, {el, signature});
    }
    replaceRows(box, [...rows.values()].map((row) => row.el));
  }

  const stop = engines.follow(update);
  return {box, update, destroy: stop};
}

// Rows that stay keep their place in the DOM, and so their focus. A button that is drawn anew gets it again.
function replaceRows(box, rows) {
  const name = box.contains(document.activeElement) && document.activeElement.dataset.part;
  if (rows.length === box.children.length && rows.every((row, index) => row === box.children[index])) return;
  box.replaceChildren(...rows);
  if (name && !box.contains(document.activeElement)) box.querySelector(`[data-part="${name}"]`)?.focus();
}

function stateText(engine, all) {
  if (engine.status === "starting") return "starting";
  if (engine.status === "stopping") return "saving its pages and stopping";
  if (engine.status !== "running") return "not running";
  const parts = [`running on ${engine.isLocal ? "this machine" : engine.machine}`];
  if (engine.name === "chromium" && engine.hasWindows === false) parts.push("without windows");
  parts.push(openText(engine, all));
  return parts.join(", ");
}

// "7 tabs of Work", "25 tabs in 9 identities".
function openText(engine, all) {
  const others = new Set(all.flatMap((other) => other.identities ?? []));
  const serves = (id) => (engine.identities ? engine.identities.includes(id) : !others.has(id));
  const open = tabs.all().filter((tab) => !tab.hidden && serves(tab.cookieStoreId));
  const stores = new Set(open.map((tab) => tab.cookieStoreId));
  if (engine.identities) {
    const names = engine.identities.map((id) => identities.get(id)?.name ?? "no identity");
    const shown = names.length > 3 ? plural(names.length, "identity", "identities") : names.join(", ");
    return `${plural(open.length, "tab")}, only ${shown}`;
  }
  return open.length ? `${plural(open.length, "tab")} in ${plural(stores.size, "identity", "identities")}` : "no tabs";
}

function engineRow(engine, text) {
  const {title, status, error, whyNot, pid, since} = engine;
  const dot = {running: "dot", starting: "dot warn", stopping: "dot warn"}[status] ?? "dot off";
  const details = pid && [`Process ${pid}`, since && `since ${exactTime(since)}`].filter(Boolean).join(", ");
  const line = h("div", {}, h("span", {}, title), " ", h("span", {class: "faint small", title: details}, text));
  const below = error ? errorLine(error) : status === "running" && whyNot && h("p", {class: "note"}, whyNot);
  return h("div", {class: "row"}, h("span", {class: dot}), h("div", {class: "grow"}, line, below), control(engine));
}

function control(engine) {
  const {status, name, title, canStop} = engine;
  const part = {"data-part": `engine-${name}`};
  if (status === "running" && !canStop) return null;
  if (status === "starting" || status === "stopping") {
    const label = status === "starting" ? "Starting" : "Stopping";
    return btn(label, () => {}, {kind: "sm", "aria-disabled": "true", "aria-label": `${label} ${title}`, ...part});
  }
  const isRunning = status === "running";
  const button = btn(isRunning ? "Stop" : "Start", () => (isRunning ? stop(engine, button) : start(engine, button)), {
    kind: "sm",
    lead: isRunning ? "ui-stop" : "ui-play",
    "aria-label": `${isRunning ? "Stop" : "Start"} ${title}`,
    ...part,
  });
  return button;
}

function start({name, title}, button) {
  const change = async (done) => {
    await resultOf(api.start(name));
    const running = await engineStarted({name});
    if (running) done(`${title} started.`, () => api.stop(running.id));
  };
  // A failed start stands in the row of the engine; an error of the call has no row.
  const onError = (error) => engines.all().some((engine) => engine.error) || problem(button, error.message);
  return attempt(button, () => undoable(change), {key: `engine ${name}`, control: button, onError});
}

function stop({id, name, title}, button) {
  const change = async (done) => {
    await resultOf(api.stop(id));
    done(`${title} stopped. Its tabs stay in the profile.`, () => api.start(name));
  };
  return attempt(button, () => undoable(change), {key: `engine ${name} ${id}`, control: button});
}
