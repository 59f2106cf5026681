// The words of the cookies of an identity. Pure.

import {sizeText} from "../archive_words.js";
import {plural, thousands} from "../numbers.js";
import {isolated, sentence} from "../sentences.js";

const SAME_SITE = {no_restriction: "None", lax: "Lax", strict: "Strict"};

// "Secure, HttpOnly, SameSite=Lax, only within top.example"
export function flagsText(cookie) {
  const flags = [cookie.secure && "Secure", cookie.httpOnly && "HttpOnly"];
  flags.push(SAME_SITE[cookie.sameSite] && `SameSite=${SAME_SITE[cookie.sameSite]}`);
  if (cookie.partitionKey) flags.push(`only within ${cookie.partitionKey.topLevelSite.replace(/^https?:\/\//, "")}`);
  return flags.filter(Boolean).join(", ");
}

// Where a cookie is sent, if that is not the site itself with all its hosts: "accounts.site.example only".
export function domainText(cookie) {
  if (!cookie.hostOnly) return cookie.domain === cookie.site ? "" : `all of ${cookie.domain}`;
  return cookie.domain === cookie.site ? "" : `${cookie.domain} only`;
}

// "Signed in on 2 sites. 5 cookies on 2 sites and 12 KB of site data, which no other identity sees."
export function summaryText(sites) {
  if (!sites.length) return "";
  const signedIn = sites.filter((site) => site.signedInSince !== null).length;
  const sum = (field) => sites.reduce((total, site) => total + site[field], 0);
  const first = signedIn ? `Signed in on ${plural(signedIn, "site")}.` : "Signed in nowhere.";
  const withCookies = sites.filter((site) => site.cookies).length;
  const parts = [sum("cookies") && `${plural(sum("cookies"), "cookie")} on ${plural(withCookies, "site")}`];
  if (sum("siteData")) parts.push(`${sizeText(sum("siteData"))} of site data`);
  return `${first} ${parts.filter(Boolean).join(" and ")}, which no other identity sees.`;
}

// "12 KB of 2 origins". What engines have saved: localStorage and IndexedDB.
export function siteDataText({siteData, origins}) {
  return `${sizeText(siteData)} of ${plural(origins, "origin")}`;
}

// After the cookies of a site were deleted. A site may recognize who was signed in by its site data, which stays.
export function removedText(removed, site, name) {
  const what = `Deleted ${plural(removed, "cookie")} of ${site.host}.`;
  if (site.siteData) return `${what} Its site data stays.`;
  return site.signedInSince === null ? what : `${what} ${isolated(name)} is signed out there.`;
}

// After the cookies and the site data of a site were deleted.
export function emptiedText(removed, site, name) {
  const cookies = removed ? `${plural(removed, "cookie")} and ` : "";
  const what = `Deleted ${cookies}the site data of ${site.host}.`;
  return site.signedInSince === null ? what : `${what} ${isolated(name)} is signed out there.`;
}

// After all cookies were deleted. sites: those that the identity had.
export function allRemovedText(sites, name) {
  const left = sites.filter((site) => site.siteData).length;
  const rest = left ? `Site data of ${plural(left, "site")} stays.` : "It is signed out everywhere.";
  return sentence`Deleted all cookies of ${name}. ${rest}`;
}

// What an undo says when something could not be as before; empty otherwise.
export function undoText({restored, superseded}) {
  if (!superseded) return "";
  const back = restored ? `${plural(restored, "cookie")} ${restored === 1 ? "is" : "are"} as before. ` : "";
  const rest = superseded === 1 ? "was set again and stays as it is" : "were set again and stay as they are";
  return `${back}${plural(superseded, "cookie")} ${rest}.`;
}

// Whether an import has left everything as it was, although the file has something else.
export function isNothingImported({added, changed, unchanged, origins}) {
  return !added && !changed && !unchanged && !origins;
}

// "cookies.txt: no cookie was imported into Work. Left out: expired cookies (3)."
export function nothingImportedText(file, name, {leftOut}) {
  return sentence`${file}: no cookie was imported into ${name}.${leftOutText(leftOut)}`;
}

// "cookies.txt: 14 cookies imported into Work, 3 unchanged. Left out: expired cookies (1)."
export function importText(file, name, report) {
  const imported = report.added + report.changed;
  const rest = leftOutText(report.leftOut);
  if (!imported && !report.origins) return sentence`${file}: ${name} has all its cookies already.${rest}`;
  const parts = [sentence`${file}: ${plural(imported, "cookie")} imported into ${name}`];
  if (report.unchanged) parts.push(`${thousands(report.unchanged)} unchanged`);
  if (report.origins) parts.push(`with the site data of ${plural(report.origins, "origin")}, which Undo leaves`);
  return `${parts.join(", ")}.${rest}`;
}

export function exportText(file, name) {
  return sentence`${plural(file.cookies, "cookie")} of ${name} saved as ${file.name}.${leftOutText(file.leftOut)}`;
}

function leftOutText(notes) {
  if (!notes.length) return "";
  const shown = notes.slice(0, 2).map(({what, count}) => (count ? `${what} (${thousands(count)})` : what));
  const rest = notes.length - shown.length;
  return ` Left out: ${shown.join("; ")}${rest ? `; and ${rest} more` : ""}.`;
}
