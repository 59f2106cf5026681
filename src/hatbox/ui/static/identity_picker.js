// A popover in which the user picks one identity, or several. Above a dozen it has a search field; Enter there picks the
// first that is found.

import {h, icon, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {popover} from "./layers.js";
import {thousands} from "./numbers.js";
import {searchBox} from "./screen_parts.js";

const FEW = 12;
const MOST = 60; // shown at once; the search finds the others

// pick(identity): called with each that is clicked. With `chosen`, a Set of ids, several can be picked, and the popover
// stays open; without, it closes.
export function pickIdentity(anchor, {label, heading, exclude = [], chosen = null, pick}) {
  const candidates = identities.all().filter((identity) => !exclude.includes(identity.cookieStoreId));
  const list = h("div", {class: "picks", id: "picks"});
  const search = candidates.length > FEW && searchBox("Find an identity", "", (text) => paint(text));
  const content = [heading && h("div", {class: "label"}, heading), search, list];
  const pop = popover(anchor, content, {cls: "menu picker", label, role: "dialog"});

  function paint(text = "") {
    const words = text.trim().toLowerCase();
    const found = candidates.filter((identity) => identity.name.toLowerCase().includes(words));
    const rest = found.length - MOST;
    const more = rest > 0 && h("p", {class: "note"}, `${thousands(rest)} more. Type a part of the name.`);
    const none = !found.length && h("p", {class: "note"}, words ? "No identity has this name." : "No other identity.");
    list.replaceChildren(...[...found.slice(0, MOST).map(item), more, none].filter(Boolean));
    markFirst(words ? list.querySelector("button") : null);
  }

  // What Enter picks. Without a search it picks nothing: the key that opened the popover may still be pressed.
  function markFirst(button) {
    const field = search && search.querySelector("input");
    if (!field) return;
    field.removeAttribute("aria-activedescendant");
    if (!button) return;
    button.id = "first-pick";
    button.classList.add("first");
    field.setAttribute("aria-controls", list.id);
    field.setAttribute("aria-activedescendant", button.id);
  }

  function onKey(event) {
    if (event.key === "Enter" && event.target.matches("input")) {
      event.preventDefault();
      list.querySelector(".first")?.click();
    } else {
      moveFocus(event, pop);
    }
  }

  function item(identity) {
    const isChosen = chosen?.has(identity.cookieStoreId);
    const mark = chosen && h("span", {class: "mark"}, isChosen && icon("ui-check"));
    const props = {type: "button", "aria-pressed": chosen && String(isChosen), "data-id": identity.cookieStoreId};
    const name = h("span", {class: "grow ellipsis", dir: "auto"}, identity.name);
    return h("button", {...props, onclick: () => click(identity)}, tile(identity), name, mark);
  }

  function click(identity) {
    if (!chosen) pop.hidePopover();
    pick(identity);
    if (!chosen) return;
    const field = pop.querySelector("input");
    const isSearching = field && document.activeElement === field;
    paint(field?.value);
    if (!isSearching) pop.querySelector(`[data-id="${identity.cookieStoreId}"]`)?.focus();
  }

  paint();
  pop.addEventListener("keydown", onKey);
  (pop.querySelector("input") ?? list.querySelector("button"))?.focus();
  return pop;
}

function moveFocus(event, pop) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step) return;
  const stops = [...pop.querySelectorAll("input, button")];
  const at = stops.indexOf(document.activeElement);
  event.preventDefault();
  stops.at((at + step) % stops.length)?.focus();
}
