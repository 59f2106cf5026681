// One row of a list of tabs.

import {fav, h, icon, iconButton} from "./dom.js";
import {menu} from "./layers.js";
import {bringToFront, chooseTarget, closeTab} from "./tab_actions.js";
import {hostOf, shortAddress} from "./tab_order.js";
import {exactTime, timeAgo} from "./times.js";

// What is visible of a tab: a row is drawn anew when it changes.
export function tabSignature(tab) {
  const {title, url, pinned, hidden, active, loading, error} = tab;
  return JSON.stringify([title, url, pinned, hidden, active, loading, error]);
}

// Shows in a row when its tab was last used. The time changes by itself, and the row stays.
export function showTime(row, tab) {
  const time = row.querySelector(".when");
  const text = when(tab);
  if (time.textContent === text) return;
  time.textContent = text;
  time.title = exactTime(tab.lastAccessed);
}

function when({active, hidden, lastAccessed}) {
  const text = active && !hidden ? "active now" : timeAgo(lastAccessed);
  return text[0].toUpperCase() + text.slice(1);
}

// within: the element in which the row of a tab is found again, for errors.
export function tabRow(tab, within) {
  const name = `“${tab.title}”`;
  const anchor = () => {
    const buttons = within.querySelectorAll(`[data-tab="${tab.id}"] .quick:last-child button`);
    return [...buttons].find((button) => button.checkVisibility()); // phones show another one
  };
  const front = () => bringToFront(tab, anchor);
  const shut = () => closeTab(tab, anchor);
  const move = iconButton("ui-move", `Move ${name} to another identity`, () => chooseTarget(tab, move, anchor), {
    "aria-haspopup": "dialog",
    "data-part": "move",
  });
  const items = () => [
    {label: "Bring to front", glyph: "ui-window", run: front},
    {label: "Move to", glyph: "ui-move", run: () => chooseTarget(tab, more, anchor)},
    {label: "Close tab", glyph: "ui-x", run: shut},
  ];
  const more = iconButton("ui-dots", `Actions for ${name}`, () => menu(more, items(), tab.title), {
    "aria-haspopup": "menu",
    class: "icon-btn only-phone",
    "data-part": "more",
  });
  const time = h("span", {class: "when hide-narrow", title: exactTime(tab.lastAccessed)}, when(tab));
  return h(
    "div",
    {class: `row${tab.hidden ? " is-off" : ""}`, "data-tab": tab.id},
    fav(hostOf(tab.url)),
    description(tab),
    tab.hidden && h("span", {class: "tag"}, icon("ui-eye-off"), "Hidden"),
    h(
      "div",
      {class: "quick late hide-narrow"},
      iconButton("ui-window", `Bring ${name} to the front`, front, {"data-part": "front"}),
      move,
    ),
    time,
    h(
      "div",
      {class: "quick"},
      iconButton("ui-x", `Close ${name}`, shut, {class: "icon-btn hide-narrow", "data-part": "close"}),
      more,
    ),
  );
}

function description({title, url, pinned, loading, error}) {
  const pin = pinned && h("span", {class: "pin", title: "Pinned"}, icon("ui-pin"), h("span", {class: "vh"}, "Pinned"));
  const address = h("span", {class: "ellipsis"}, shortAddress(url) || "Start page");
  const fault = () => h("span", {class: "fault"}, icon("ui-warn"), h("span", {class: "ellipsis", title: error}, error));
  const state = loading && !error && h("span", {class: "faint nowrap"}, "Waiting to load");
  return h(
    "div",
    {class: "grow"},
    h("div", {class: "title line"}, h("span", {class: "ellipsis", dir: "auto"}, title), pin),
    h("div", {class: "url line", title: url}, error ? fault() : address, state),
  );
}
