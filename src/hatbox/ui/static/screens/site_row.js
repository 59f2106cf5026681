// One row of Sites: the site, a chip for each identity that fits, and how many are signed in.

import {chip, fav, h, plural} from "../dom.js";
import {popover} from "../layers.js";
import {ownerOf} from "../no_identity.js";
import {exactTime, shortDate} from "../times.js";
import {chipsThatFit} from "./chip_fit.js";

const MAX_LISTED = 200; // identities in the popover of a site

// row: {host, signedIn, others}; space: px for chips; withSince: whether chips have dates.
export function shownChips(row, space, withSince) {
  const entries = [...row.signedIn, ...row.others].filter((entry) => ownerOf(entry.cookieStoreId));
  const labels = entries.slice(0, 60).map((entry) => ({
    name: ownerOf(entry.cookieStoreId).name,
    since: withSince && entry.signedInSince !== null ? sinceText(entry) : "",
  }));
  const fits = chipsThatFit(labels, space, entries.length);
  return {shown: entries.slice(0, fits), rest: entries.slice(fits)};
}

// What is visible of a row, as text: it is drawn anew when this changes.
export function rowSignature(row, space, withSince) {
  const {shown, rest} = shownChips(row, space, withSince);
  const faces = shown.map((entry) => {
    const {name, color, icon, hidden} = ownerOf(entry.cookieStoreId);
    return [name, color, icon, hidden, entry.signedInSince !== null && shortDate(entry.signedInSince)];
  });
  return JSON.stringify([row.host, row.signedIn.length, faces, rest.length, withSince]);
}

export function siteRow(row, space, withSince) {
  const {shown, rest} = shownChips(row, space, withSince);
  const count = row.signedIn.length;
  const chips = shown.map((entry) => siteChip(entry, withSince));
  return h(
    "div",
    {class: "row siterow"},
    fav(row.host),
    h("div", {class: "host ellipsis", title: row.host}, row.host),
    h("div", {class: "chips grow"}, chips, moreButton(row, rest)),
    h("span", {class: "when hide-narrow num"}, count ? plural(count, "identity", "identities") : "Not signed in"),
  );
}

function sinceText(entry) {
  return `since ${shortDate(entry.signedInSince)}`;
}

function siteChip(entry, withSince) {
  const owner = ownerOf(entry.cookieStoreId);
  const href = `#/identity/${encodeURIComponent(entry.cookieStoreId)}/cookies`;
  const isIn = entry.signedInSince !== null;
  const el = chip(owner, isIn && withSince ? sinceText(entry) : null, href);
  el.dataset.part = entry.cookieStoreId;
  if (isIn) {
    el.title = `${owner.name}: signed in since ${exactTime(entry.signedInSince)}`;
    if (!withSince) el.append(h("span", {class: "vh"}, sinceText(entry)));
  } else {
    el.classList.add("maybe");
    el.title = `${owner.name}: cookies only. Has cookies here, none that look like a sign-in`;
    el.append(h("span", {class: "vh"}, "Cookies only"));
  }
  return el;
}

function moreButton(row, rest) {
  if (!rest.length) return null;
  const name = `${plural(rest.length, "more identity", "more identities")} on ${row.host}`;
  const onclick = () => showRest(button, row, rest);
  const props = {class: "chip more", type: "button", "aria-haspopup": "dialog", "aria-label": name, onclick};
  const button = h("button", {...props, "data-part": "more"}, `+${rest.length.toLocaleString("en")}`);
  return button;
}

function showRest(anchor, row, rest) {
  const listed = rest.slice(0, MAX_LISTED).map((entry) => h("li", {}, siteChip(entry, true)));
  const left = rest.length - listed.length;
  const text = `${left.toLocaleString("en")} more are not listed. Search for a name to find one.`;
  const note = left > 0 && h("p", {class: "note"}, text);
  const pop = popover(anchor, [h("h2", {}, row.host), h("ul", {class: "chiplist"}, listed), note], {
    cls: "site-rest",
    label: `Identities on ${row.host}`,
    role: "dialog",
  });
  pop.addEventListener("click", (event) => event.target.closest("a") && pop.hidePopover());
  pop.querySelector("a")?.focus();
}
