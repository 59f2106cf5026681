// What lies above the page: popover, menu, dialog, errors and notices at a control; toasts are in toasts.js.

import {errorLine, h, icon, say, tile} from "./dom.js";
import {closeToasts, toast} from "./toasts.js";

export {closeToasts, toast};

const EDGE = 8; // px between a popover and the edge of the window

const openAt = new WeakMap(); // anchor → its open popover

function place(pop, anchor) {
  const at = anchor.getBoundingClientRect();
  const {width, height} = pop.getBoundingClientRect();
  const fitsRight = at.left + width <= innerWidth - EDGE;
  const left = Math.max(EDGE, Math.min(fitsRight ? at.left : at.right - width, innerWidth - width - EDGE));
  const fitsBelow = at.bottom + 4 + height <= innerHeight - EDGE;
  const above = at.top - height - 4;
  const top = fitsBelow ? at.bottom + 4 : above >= EDGE ? above : Math.max(EDGE, innerHeight - height - EDGE);
  pop.style.left = `${left}px`;
  pop.style.top = `${top}px`;
}

// Where a popover is in the DOM: in the dialog of its anchor, because what is outside is inert; else in a landmark.
function layerFor(anchor) {
  return anchor.closest("dialog") ?? document.querySelector("main") ?? document.body;
}

// A popover at an element. Escape, a click elsewhere and another screen close it; focus then returns to the anchor.
export function popover(anchor, content, {cls = "", label, role = label && "group"} = {}) {
  const pop = h("div", {class: `pop ${cls}`, popover: "auto", "aria-label": label, role}, content);
  const ended = new AbortController();
  addEventListener("hashchange", () => pop.hidePopover(), {signal: ended.signal});
  pop.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    ended.abort();
    if (openAt.get(anchor) === pop) anchor.setAttribute("aria-expanded", "false");
    const active = document.activeElement;
    const mayReturn = pop.contains(active) || active === document.body || active === null;
    pop.remove();
    if (mayReturn && anchor.isConnected) anchor.focus();
  });
  layerFor(anchor).append(pop);
  openAt.set(anchor, pop);
  anchor.setAttribute("aria-expanded", "true");
  pop.showPopover();
  place(pop, anchor);
  return pop;
}

// An error beside the control that caused it, where the page has no line for it.
export function problem(anchor, message) {
  return beside(anchor, errorLine(message), {cls: "problem", label: "Error"});
}

// A line beside a control, for example that its change waits. The caller hides it with hidePopover().
export function notice(anchor, text) {
  say(text, "polite");
  return beside(anchor, h("p", {}, text), {cls: "notice", label: "Notice"});
}

const besideOf = new WeakMap(); // element → the line beside it

// Other than a popover it closes nothing: the user may be typing in one. Escape, a click elsewhere and another screen
// close it.
function beside(anchor, content, {cls, label}) {
  const target = visibleAt(anchor);
  const pop = h("div", {class: `pop ${cls}`, popover: "manual", role: "group", "aria-label": label}, content);
  const ended = new AbortController();
  const {signal} = ended;
  const close = () => {
    ended.abort();
    if (pop.isConnected) pop.hidePopover();
    pop.remove();
  };
  const onKey = (event) => {
    if (event.key !== "Escape" || !pop.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  besideOf.get(target)?.hidePopover();
  besideOf.set(target, pop);
  layerFor(target).append(pop);
  pop.showPopover();
  place(pop, target);
  setTimeout(() => pop.isConnected && place(pop, target)); // the place of an element that was just drawn
  pop.addEventListener("beforetoggle", (event) => event.newState === "closed" && queueMicrotask(close));
  addEventListener("keydown", onKey, {capture: true, signal});
  addEventListener("pointerdown", (event) => pop.contains(event.target) || close(), {capture: true, signal});
  addEventListener("hashchange", close, {signal});
  return pop;
}

// The element, or what is visible around it: a line beside a hidden button would stand in the corner of the window.
function visibleAt(anchor) {
  let target = anchor?.isConnected ? anchor : null;
  while (target && !target.checkVisibility()) target = target.parentElement;
  const isSomewhere = target && target !== document.body && target !== document.documentElement;
  return isSomewhere ? target : document.querySelector("main h1") ?? document.body;
}

function menuItem(item, close) {
  if (item === "-") return h("hr");
  if (!item.run) return h("div", {class: "label"}, item.label);
  const lead = item.tile ? tile(item.tile) : item.glyph && icon(item.glyph);
  const onclick = () => {
    close();
    item.run();
  };
  const role = item.isChosen === undefined ? "menuitem" : "menuitemradio";
  const chosen = item.isChosen === undefined ? null : String(item.isChosen);
  return h(
    "button",
    {role, type: "button", tabindex: "-1", class: item.danger ? "danger" : null, "aria-checked": chosen, onclick},
    lead,
    h("span", {class: "grow ellipsis"}, item.label),
    item.key && h("kbd", {}, item.key),
    item.isChosen && icon("ui-check"),
  );
}

// items: {label, run, glyph?, tile?, key?, danger?, isChosen?: one of several}; {label} is a heading, "-" a line; false
// and null are left out.
export function menu(anchor, items, label) {
  const nodes = items.filter(Boolean).map((item) => menuItem(item, () => pop.hidePopover()));
  const pop = popover(anchor, nodes, {cls: "menu", role: "menu", label});
  const buttons = [...pop.querySelectorAll("[role^=menuitem]")];
  buttons[0]?.focus();
  pop.addEventListener("keydown", (event) => menuKey(event, buttons, pop));
  return pop;
}

function menuKey(event, buttons, pop) {
  const at = buttons.indexOf(document.activeElement);
  const to = {ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1}[event.key];
  if (to !== undefined) {
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  } else if (event.key === "Tab") {
    pop.hidePopover();
  } else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) {
    jumpTo(event.key.toLowerCase(), buttons, at);
  }
}

function jumpTo(letter, buttons, at) {
  const following = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
  following.find((button) => button.textContent.trim().toLowerCase().startsWith(letter))?.focus();
}

let dialogs = 0;

// A modal dialog. actions(close) gives its buttons, the safe one first.
export function dialog(title, body, actions) {
  const id = `dialog-${++dialogs}`;
  const close = () => box.close();
  const heading = h("h2", {id}, title);
  const buttons = actions && h("div", {class: "dlg-actions"}, actions(close));
  const box = h("dialog", {"aria-labelledby": id}, h("div", {class: "dlg"}, heading, body, buttons));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}
