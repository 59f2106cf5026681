// Messages at the bottom of the window, with Undo. One at a time; a message without Undo stands beside one whose change
// can be undone only there.

import {btn, h, icon, iconButton, say} from "./dom.js";

const SHOWN = 10_000; // ms; waits while hovered or focused
const MAX_ONLY_UNDO = 55_000; // ms, also while hovered: the server then discards what it needs for this Undo

const region = h("div", {class: "toasts", popover: "manual", role: "region", "aria-label": "Messages"});
const open = new Set(); // of {isOnlyUndo, close}

export function closeToasts() {
  for (const each of [...open]) each.close();
}

// Reports what worked. undo: called by its button. closed: called when the toast is gone, for whatever reason.
// isOnlyUndo: the change can be undone only as long as the toast is shown. Returns a function that closes it.
export function toast(text, undo, {closed, isOnlyUndo = false} = {}) {
  const run = () => {
    undo();
    close();
  };
  const button = undo && btn("Undo", run, {kind: "sm", title: "Ctrl+Z"});
  const dismiss = iconButton("ui-x", "Dismiss", () => close());
  const el = h("div", {class: "toast"}, h("span", {class: "grow"}, text), button, dismiss);
  const close = show(el, {closed, isOnlyUndo, hasUndo: Boolean(undo)});
  say(text, "polite");
  return close;
}

// An undo that failed is reported where its button was. again: called by "Try again", dismissed: by "Dismiss". closed and
// isOnlyUndo as for toast. Returns a function that closes it.
export function undoFailed(text, {again, dismissed, closed, isOnlyUndo} = {}) {
  const after = (run) => () => {
    run?.();
    close();
  };
  const retry = again && btn("Try again", after(again), {kind: "sm"});
  const dismiss = iconButton("ui-x", "Dismiss", after(dismissed));
  const words = h("span", {class: "grow", role: "alert"}, text);
  const el = h("div", {class: "toast"}, icon("ui-warn"), words, retry, dismiss);
  const close = show(el, {closed, isOnlyUndo});
  return close;
}

function show(el, {closed = null, isOnlyUndo = false, hasUndo = false}) {
  for (const each of [...open]) if (hasUndo || !each.isOnlyUndo) each.close();
  let timer = null;
  let before = null; // what had the focus before the toast
  const pause = () => clearTimeout(timer);
  const wait = () => {
    pause();
    timer = setTimeout(close, SHOWN);
  };
  const limit = isOnlyUndo ? setTimeout(() => close(), MAX_ONLY_UNDO) : null;
  const entry = {isOnlyUndo, close: () => close()};
  function close() {
    if (!open.delete(entry)) return;
    pause();
    clearTimeout(limit);
    const hadFocus = el.contains(document.activeElement);
    el.remove();
    if (!open.size && region.matches(":popover-open")) region.hidePopover();
    if (hadFocus) returnFocus(before);
    closed?.();
  }
  el.addEventListener("mouseenter", pause);
  el.addEventListener("mouseleave", () => el.contains(document.activeElement) || wait());
  el.addEventListener("focusin", (event) => {
    pause();
    if (event.relatedTarget && !el.contains(event.relatedTarget)) before = event.relatedTarget;
  });
  el.addEventListener("focusout", wait);
  open.add(entry);
  if (!region.isConnected) document.body.append(region);
  region.append(el);
  if (!region.matches(":popover-open")) region.showPopover();
  wait();
  return close;
}

function returnFocus(before) {
  const target = before?.isConnected && before.checkVisibility() ? before : document.querySelector("main");
  target?.focus({preventScroll: true});
}
