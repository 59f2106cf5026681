// One row of Sites: the site, a chip for each identity that fits, and how many are signed in.

import {chip, fav, h, plural} from "../dom.js";
import {popover} from "../layers.js";
import {ownerOf} from "../no_identity.js";
import {thousands} from "../numbers.js";
import {sentence} from "../sentences.js";
import {exactTime, shortDate} from "../times.js";
import {chipsThatFit} from "./chip_fit.js";

const MAX_CHIPS = 40; // in one row
const MAX_LISTED = 200; // identities in the popover of a site
const COOKIES_ONLY = "Cookies only";
const SITE_DATA_ONLY = "Site data only";

// row: {host, signedIn, others}. room: {space, rem, withSince}: what chipsThatFit needs, and whether chips have dates.
export function shownChips(row, {space, rem, withSince}) {
  const entries = knownEntries(row, MAX_CHIPS);
  const total = entries.length < MAX_CHIPS ? entries.length : row.signedIn.length + row.others.length;
  const labels = entries.map((entry) => ({
    name: ownerOf(entry.cookieStoreId).name,
    since: withSince && entry.signedInSince !== null ? sinceText(entry) : "",
  }));
  const fits = chipsThatFit(labels, space, total, rem);
  return {shown: entries.slice(0, fits), rest: total - fits};
}

// The first entries whose identity is known. A site may have ten thousand, and this runs for each row of each frame.
function knownEntries(row, limit) {
  const found = [];
  for (const entries of [row.signedIn, row.others]) {
    for (const entry of entries) {
      if (found.length === limit) return found;
      if (ownerOf(entry.cookieStoreId)) found.push(entry);
    }
  }
  return found;
}

// What is visible of a row, as text: it is drawn anew when this changes.
export function rowSignature(row, room) {
  const {shown, rest} = shownChips(row, room);
  const faces = shown.map((entry) => {
    const {name, color, icon, hidden} = ownerOf(entry.cookieStoreId);
    const since = entry.signedInSince !== null && shortDate(entry.signedInSince);
    return [name, color, icon, hidden, since, entry.cookies > 0];
  });
  return JSON.stringify([row.host, row.signedIn.length, unsureText(row), faces, rest, room.withSince]);
}

export function siteRow(row, room) {
  const {shown, rest} = shownChips(row, room);
  const count = row.signedIn.length;
  const chips = shown.map((entry) => siteChip(entry, room.withSince));
  return h(
    "div",
    {class: "row siterow"},
    fav(row.host),
    h("div", {class: "host ellipsis", title: row.host}, row.host),
    !count && h("span", {class: "only-phone-text small muted nowrap", "aria-hidden": "true"}, unsureText(row)),
    h("div", {class: "chips grow"}, chips, moreButton(row, shown.length, rest)),
    h("span", {class: "when hide-narrow num"}, count ? plural(count, "identity", "identities") : "Not signed in"),
  );
}

// What a site without a sign-in has. Its chips say it to screen readers, each for its identity.
function unsureText({signedIn, others}) {
  if (signedIn.length) return "";
  return others.some(({cookies}) => cookies) ? COOKIES_ONLY : SITE_DATA_ONLY;
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
    el.title = sentence`${owner.name}: signed in since ${exactTime(entry.signedInSince)}`;
    if (!withSince) el.append(h("span", {class: "vh"}, sinceText(entry)));
  } else {
    el.classList.add("maybe");
    const what = entry.cookies ? COOKIES_ONLY : SITE_DATA_ONLY;
    const why = entry.cookies ? "Has cookies here, none that look like a sign-in" : "Has no cookies here";
    el.title = sentence`${owner.name}: ${what.toLowerCase()}. ${why}`;
    el.append(h("span", {class: "vh"}, what));
  }
  return el;
}

function moreButton(row, shown, rest) {
  if (!rest) return null;
  const name = `${plural(rest, "more identity", "more identities")} on ${row.host}`;
  const onclick = () => showRest(button, row, shown, rest);
  const props = {class: "chip more", type: "button", "aria-haspopup": "dialog", "aria-label": name, onclick};
  const button = h("button", {...props, "data-part": "more"}, `+${thousands(rest)}`);
  return button;
}

function showRest(anchor, row, shown, rest) {
  const entries = knownEntries(row, shown + MAX_LISTED).slice(shown);
  const listed = entries.map((entry) => h("li", {}, siteChip(entry, true)));
  const left = rest - listed.length;
  const text = `${thousands(left)} more are not listed. Search for a name to find one.`;
  const note = left > 0 && h("p", {class: "note"}, text);
  const pop = popover(anchor, [h("h2", {}, row.host), h("ul", {class: "chiplist"}, listed), note], {
    cls: "site-rest",
    label: `Identities on ${row.host}`,
    role: "dialog",
  });
  pop.addEventListener("click", (event) => event.target.closest("a") && pop.hidePopover());
  pop.querySelector("a")?.focus();
}
