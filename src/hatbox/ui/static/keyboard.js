// Keys that work on every screen. Those of a card are in screens/identity_grid.js.

import {btn, h} from "./dom.js";
import {createIdentity} from "./identity_actions.js";
import {dialog} from "./layers.js";
import {go} from "./router.js";
import {undoLast} from "./undo.js";

const CHORD = 1200; // ms between "G" and the letter of a screen

const SCREEN_OF = {
  i: "identities",
  s: "sites",
  t: "tabs",
  r: "rules",
  e: "extensions",
  x: "trash",
  a: "activity",
};

const HELP = [
  ["Search on this page", ["/"]],
  ["New identity", ["N"]],
  ["Go to a screen", ["G", "then", "I S T R E X A"]],
  ["Move between identities", ["Arrow keys", "Home", "End"]],
  ["Open, edit, hide or show, remove", ["Enter", "E", "H", "Del"]],
  ["Open its window", ["O"]],
  ["Move in the order", ["Alt", "Arrow keys"]],
  ["Lift and drop with the handle", ["Space"]],
  ["Clear the search, close, cancel", ["Esc"]],
  ["Undo", ["Ctrl", "Z"]],
  ["This list", ["?"]],
];

let chordStarted = 0;

export function startKeyboard() {
  addEventListener("keydown", endChord, {capture: true}); // before a card takes "E" as its own
  addEventListener("keydown", onKey);
}

// The dialog with all keys.
export function shortcuts() {
  const key = (text) => (text === "then" ? " then " : h("kbd", {}, text));
  const rows = HELP.flatMap(([text, keys]) => [
    h("dt", {}, text),
    h("dd", {}, keys.map((name, at) => [at > 0 && " ", key(name)])),
  ]);
  return dialog("Keyboard shortcuts", h("dl", {class: "keys"}, rows), (close) => [btn("Close", close)]);
}

const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";

function onKey(event) {
  if (!event.key) return; // autofill sends such an event
  const typing = event.target.matches?.(TYPING);
  if (typing) {
    if (event.key === "Escape") clearSearch(event);
    return;
  }
  if (document.querySelector("dialog[open], .pop:popover-open:not(.problem, .notice)")) return; // the keys are its own
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z") {
    event.preventDefault();
    undoLast();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  command(event);
}

function clearSearch(event) {
  const field = event.target;
  if (field.type !== "search" || !field.value) return;
  event.preventDefault();
  field.value = "";
  field.dispatchEvent(new Event("input", {bubbles: true}));
}

function endChord(event) {
  if (!event.key) return;
  const isOpen = chordStarted > 0 && event.timeStamp - chordStarted < CHORD;
  const name = SCREEN_OF[event.key.toLowerCase()];
  chordStarted = 0;
  if (!isOpen || !name || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.(TYPING)) return;
  event.preventDefault();
  event.stopPropagation();
  go(`#/${name}`);
}

function command(event) {
  const key = event.key.toLowerCase();
  if (key === "/") focusSearch();
  else if (key === "n") createIdentity();
  else if (key === "?") shortcuts();
  else if (key === "g") chordStarted = event.timeStamp;
  else return;
  event.preventDefault();
}

function focusSearch() {
  const field = [...document.querySelectorAll("main input[type=search]")].find((input) => input.checkVisibility());
  field?.focus();
  field?.select();
}
