// The frame around the screens: sidebar (a rail on medium windows), bottom bar on phones, banner, status, theme.

import {connection} from "./api.js";
import {connectionNotice} from "./connection_notice.js";
import {counts} from "./counts.js";
import {h, icon} from "./dom.js";
import {shortcuts} from "./keyboard.js";
import {menu} from "./layers.js";
import {thousands} from "./numbers.js";
import {currentRoute, go, onRoute} from "./router.js";
import {segment} from "./screen_parts.js";
import {currentTheme, setTheme, THEMES} from "./theme.js";

// name, label, glyph. The bottom bar shows the first four, its menu the others.
const ENTRIES = [
  ["identities", "Identities", "ui-identities"],
  ["sites", "Sites", "ui-sites"],
  ["tabs", "Tabs", "ui-tabs"],
  ["rules", "Rules", "ui-rules"],
  ["extensions", "Extensions", "ui-extensions"],
  ["trash", "Trash, backups", "ui-trash"],
  ["activity", "Activity", "ui-activity"],
];
const ON_PHONES = 4;
const SECOND_GROUP = "trash"; // a gap stands before it

// Puts the frame into `app` and returns the element for the screens.
export function buildFrame(app) {
  measureScrollbar(); // first: the layout of an empty page takes little time
  const root = h("div", {class: "fill screen"});
  const main = h("main", {class: "main", id: "main", tabindex: "-1"}, connectionNotice(), root);
  const brand = h("span", {}, "Hatbox", h("small", {class: "ellipsis"})); // main.js adds the name of the profile
  const side = h(
    "header",
    {class: "side"},
    h("div", {class: "brand"}, icon("ui-brand"), brand),
    sidebar(),
    h("div", {class: "side-foot"}, statusButton(), themeSwitch()),
  );
  app.replaceChildren(h("div", {class: "shell"}, side, main, bottomBar()));
  skipLink(main);
  return root;
}

function isCurrent(name) {
  const shown = currentRoute().name;
  return name === (shown === "identity" ? "identities" : shown);
}

function markCurrent(el, is) {
  if (is) el.setAttribute("aria-current", "page");
  else el.removeAttribute("aria-current");
}

function sidebar() {
  const links = new Map();
  const nav = h("nav", {class: "nav", "aria-label": "Main"});
  for (const [name, label, glyph] of ENTRIES) {
    if (name === SECOND_GROUP) nav.append(h("div", {class: "gap"}));
    const number = h("span", {class: "num"});
    const link = h("a", {href: `#/${name}`, title: label}, icon(glyph), h("span", {}, label), number);
    links.set(name, {link, number});
    nav.append(link);
  }
  const paintRoute = () => links.forEach(({link}, name) => markCurrent(link, isCurrent(name)));
  const paintCounts = () => links.forEach(({number}, name) => {
    const count = counts.of(name);
    number.textContent = count === undefined ? "" : thousands(count);
  });
  onRoute(paintRoute);
  counts.onChange(paintCounts);
  paintRoute();
  paintCounts();
  return nav;
}

function bottomBar() {
  const links = ENTRIES.slice(0, ON_PHONES).map(([name, label, glyph]) => {
    return h("a", {href: `#/${name}`, "data-screen": name}, icon(glyph), label);
  });
  const others = ENTRIES.slice(ON_PHONES);
  const open = () => menu(more, [...others.map(screenItem), "-", ...THEMES.map(themeItem)], "More");
  const more = h("button", {type: "button", "aria-haspopup": "menu", onclick: open}, icon("ui-dots"), "More");
  const paint = () => {
    for (const link of links) markCurrent(link, isCurrent(link.dataset.screen));
    markCurrent(more, others.some(([name]) => isCurrent(name)));
  };
  onRoute(paint);
  paint();
  return h("nav", {class: "bottom", "aria-label": "Main, small screen"}, links, more);
}

function screenItem([name, label, glyph]) {
  return {label, glyph, run: () => go(`#/${name}`)};
}

function themeItem([theme, label, glyph]) {
  return {label, glyph, isChosen: currentTheme() === theme, run: () => setTheme(theme)};
}

function themeSwitch() {
  return segment("Theme", THEMES, currentTheme(), setTheme);
}

function stateText() {
  if (connection.online) return "Live";
  if (connection.refused) return "No access";
  return connection.silent ? "Not answering" : "Reconnecting";
}

function statusButton() {
  const dot = h("span", {class: "dot"});
  const text = h("span", {class: "ellipsis"});
  const open = () => menu(button, [
    {label: connection.online ? "Live: changes by any program show at once" : stateText()},
    !connection.online && !connection.silent && !connection.refused && {label: "Try now", run: () => connection.retry()},
    {label: "Keyboard shortcuts", key: "?", run: shortcuts},
  ], "Connection");
  const button = h("button", {class: "status", type: "button", "aria-haspopup": "menu", onclick: open}, dot, text);
  const paint = () => {
    const state = stateText();
    dot.classList.toggle("warn", !connection.online);
    text.textContent = state;
    button.title = state;
    button.setAttribute("aria-label", `Connection: ${state}`);
  };
  connection.onStatus(paint);
  paint();
  return button;
}

// The address is that of the screen, so the link sets the focus and leaves the address alone.
function skipLink(main) {
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
}

// With classic scrollbars, right edges still line up: the scroller's padding is less by this width.
function measureScrollbar() {
  const probe = h("div", {class: "scroll probe"});
  document.body.append(probe);
  document.documentElement.style.setProperty("--bar", `${probe.offsetWidth - probe.clientWidth}px`);
  probe.remove();
}
