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
  const {name, color, icon: glyph, hidden, tabs, signedIn, hosts} = identity;
  return JSON.stringify([name, color, glyph, hidden, tabs, signedIn, hosts, isMovable]);
}

// on: {open(id), menu(id, anchor), lift(event, id)}. The card is that of the identity in its data-key.
export function createCard(view, on) {
  const id = () => card.dataset.key;
  const more = iconButton("ui-dots", "", () => on.menu(id(), more), {"aria-haspopup": "menu", "data-part": "menu"});
  const grip = iconButton("ui-grip", "", null, {
    class: "icon-btn grip",
    "data-part": "grip",
    "aria-roledescription": "sortable handle",
    onpointerdown: (event) => on.lift(event, id()),
  });
  const link = h("a", {class: "hit", draggable: "false", "data-part": "link", onclick: () => on.open(id())});
  const foot = h("div", {class: "foot"});
  const name = h("div", {class: "name ellipsis"});
  const words = h("div", {class: "grow words"}, name, h("div", {class: "line small muted"}));
  if (view === "rows") words.append(foot);
  const body = h("div", {class: "body"}, h("span", {class: "face"}), words, h("div", {class: "acts"}, grip, more));
  const card = h("div", {class: "card"}, link, body, view === "cards" && foot);
  card.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    on.menu(id(), more);
  });
  return card;
}

export function updateCard(card, identity, view, isMovable) {
  const {cookieStoreId, name, color, hidden} = identity;
  const part = (selector) => card.querySelector(selector);
  card.dataset.color = color;
  card.classList.toggle("is-hidden", hidden);
  part(".hit").href = `#/identity/${encodeURIComponent(cookieStoreId)}/tabs`;
  part(".hit").setAttribute("aria-label", spokenText(identity));
  part(".face").replaceChildren(tile(identity, view === "cards" ? "t36" : "t28"));
  part(".name").textContent = name;
  part(".name").title = name;
  const tabs = h("span", {class: "ellipsis"}, hidden ? `Hidden, ${tabsText(identity)}` : tabsText(identity));
  part(".words > .line").replaceChildren(...(hidden ? [icon("ui-eye-off")] : []), tabs);
  part(".foot").replaceChildren(icon("ui-key"), ...signedInLine(identity, HOSTS_SHOWN[view]));
  label(part("[data-part=menu]"), `Actions for ${name}`);
  label(part(".grip"), `Move ${name}`);
  part(".grip").hidden = !isMovable;
}

function signedInLine({hosts, signedIn}, most) {
  const text = hosts.length ? hosts.slice(0, most).join(", ") : "Signed in nowhere";
  const rest = signedIn - Math.min(most, hosts.length);
  return [h("span", {class: "ellipsis grow"}, text), ...(rest > 0 ? [h("span", {class: "num"}, `+${rest}`)] : [])];
}

function label(button, text) {
  button.setAttribute("aria-label", text);
  button.title = text;
}
