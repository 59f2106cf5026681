// Extensions: what runs, what may it do, what does it say?

import {btn, empty, errorLine, h} from "../dom.js";
import {ExtensionCard} from "../extension_card.js";
import {chooseFile, installFile} from "../extension_install.js";
import {followExtensions} from "../extensions_state.js";
import {acceptFiles} from "../file_drops.js";
import {header, loadError, skeletonAfter} from "../screen_parts.js";

export const title = "Extensions";

export function mount(root) {
  const cards = new Map(); // id → ExtensionCard
  const count = h("span", {role: "status"});
  const problem = h("div", {class: "ext-install", role: "status"});
  const grid = h("div", {class: "exts"});
  const other = h("div", {});
  const install = btn("Install", () => chooseFile(showProblem), {lead: "ui-plus"});
  const scroller = h("div", {class: "scroll"}, problem, grid, other);
  const screen = h("div", {class: "main-in fill"}, header(title, count, install), scroller);
  root.append(screen);
  acceptFiles(screen, {cls: "is-drop", take});

  function take(files) {
    if (files.length > 1) showProblem("Install one file at a time.");
    else if (files.length) installFile(files[0], showProblem);
  }

  function showProblem(message, status) {
    const line = message ? errorLine(message) : status && h("p", {class: "muted"}, status);
    problem.replaceChildren(...(line ? [line] : []));
  }

  function show(list) {
    const running = list.filter((each) => each.isRunning).length;
    count.textContent = list.length ? `${running} of ${list.length} running` : "";
    const known = new Set(list.map((each) => each.id));
    for (const [id, card] of cards) if (!known.has(id)) removeCard(id, card);
    list.forEach((extension, place) => {
      const card = cards.get(extension.id);
      if (card) card.update(extension);
      else addCard(extension, place);
    });
    showOther(list.length ? "" : "empty");
  }

  function addCard(extension, place) {
    const card = new ExtensionCard(extension, () => following.refresh());
    cards.set(extension.id, card);
    grid.insertBefore(card.el, grid.children[place] ?? null);
  }

  function removeCard(id, card) {
    const hadFocus = card.el.contains(document.activeElement);
    card.destroy();
    card.el.remove();
    cards.delete(id);
    if (hadFocus) install.focus();
  }

  function showOther(state, message) {
    if (other.dataset.key === `${state} ${message}`) return;
    other.dataset.key = `${state} ${message}`;
    const text = "Drop an .xpi or .zip file here, or choose one. You see what it may do before it is installed.";
    if (state === "empty") other.replaceChildren(empty("ui-extensions", "No extensions", text, btn("Choose a file", () => chooseFile(showProblem))));
    else if (state === "error") other.replaceChildren(loadError(message, () => following.refresh()));
    else other.replaceChildren();
  }

  const following = followExtensions(show, (message) => showOther("error", message));
  const stopSkeleton = skeletonAfter(other, "Loading extensions", () => other.dataset.key !== undefined);
  return {
    unmount() {
      stopSkeleton();
      following.stop();
      for (const card of cards.values()) card.destroy();
    },
  };
}
