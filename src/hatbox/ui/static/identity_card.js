// The cell of an identity: card or row. Made once and updated in place, so that a change of the identity moves no
// focus and closes no menu.

import {h, icon, iconButton, plural, tile} from "./dom.js";

const HOSTS_SHOWN = {cards: 2, rows: 4};

// "7 tabs", "No tabs open", "2 tabs waiting" (hidden).
export function tabsText({tabs, hidden}) {
  if (!tabs) return hidden ? "no tabs" : "No tabs open";
  return hidden ? `${plural(tabs, "tab")} waiting` : plural(tabs, "tab");
}

// What a screen reader says for the link of a card.
export function spokenText(identity) {
  const {name, hidden, hosts, signedIn} = identity;
  const more = signedIn > hosts.length ? ` and ${plural(signedIn - hosts.length, "more site", "more sites")}` : "";
  const signedInText = hosts.length ? `Signed in on ${hosts.join(", ")}${more}` : "Signed in nowhere";
  return `${name}${hidden ? ", hidden" : ""}. ${capitalized(tabsText(identity))}. ${signedInText}`;
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Everything that a card shows: a card whose signature is the same need not be drawn.
export function cardSignature(identity, isMovable) {
  const {name, isUnnamed, color, icon: glyph, hidden, tabs, signedIn, hosts} = identity;
  return JSON.stringify([name, isUnnamed, color, glyph, hidden, tabs, signedIn, hosts, isMovable]);
}

const templates = new Map(); // view → a card without an identity. Cloning it takes half the time of making one.

// A card without an identity. Its parts have no listeners: those are on the list.
export function createCard(view) {
  if (!templates.has(view)) templates.set(view, makeCard(view));
  return templates.get(view).cloneNode(true);
}

function makeCard(view) {
  const more = iconButton("ui-dots", "", null, {"aria-haspopup": "menu", "data-part": "menu"});
  const sortable = {"data-part": "grip", "aria-roledescription": "sortable handle"};
  const grip = iconButton("ui-grip", "", null, {class: "icon-btn grip", ...sortable});
  const link = h("a", {class: "hit", draggable: "false", "data-part": "link"});
  const [hosts, number] = [h("span", {class: "ellipsis grow"}), h("span", {class: "num"})];
  const foot = h("div", {class: "foot"}, icon("ui-key"), hosts, number);
  const name = h("div", {class: "name ellipsis", dir: "auto"});
  const tabs = h("div", {class: "line small muted"}, icon("ui-eye-off"), h("span", {class: "ellipsis"}));
  const words = h("div", {class: "grow words"}, name, tabs, view === "rows" && foot);
  const body = h("div", {class: "body"}, h("span", {class: "face"}), words, h("div", {class: "acts"}, grip, more));
  return h("div", {class: "card"}, link, body, view === "cards" && foot);
}

export function updateCard(card, identity, view, isMovable) {
  const {cookieStoreId, name, color, hidden} = identity;
  const part = (selector) => card.querySelector(selector);
  const link = part(".hit"), title = part(".name"), line = part(".line"), foot = part(".foot"), grip = part(".grip");
  card.dataset.color = color;
  card.classList.toggle("is-hidden", hidden);
  link.href = `#/identity/${encodeURIComponent(cookieStoreId)}/tabs`;
  link.setAttribute("aria-label", spokenText(identity));
  part(".face").replaceChildren(tile(identity, view === "cards" ? "t36" : "t28"));
  title.textContent = name;
  title.classList.toggle("faint", Boolean(identity.isUnnamed));
  title.title = name;
  line.firstChild.toggleAttribute("hidden", !hidden);
  line.lastChild.textContent = hidden ? `Hidden, ${tabsText(identity)}` : tabsText(identity);
  const [hosts, rest] = signedInTexts(identity, HOSTS_SHOWN[view]);
  foot.children[1].textContent = hosts;
  foot.lastChild.textContent = rest;
  foot.lastChild.hidden = !rest;
  label(part("[data-part=menu]"), `Actions for ${name}`);
  label(grip, `Move ${name}`);
  grip.hidden = !isMovable;
}

function signedInTexts({hosts, signedIn}, most) {
  const rest = signedIn - Math.min(most, hosts.length);
  return [hosts.slice(0, most).join(", ") || "Signed in nowhere", rest > 0 ? `+${rest}` : ""];
}

function label(button, text) {
  button.setAttribute("aria-label", text);
  button.title = text;
}
