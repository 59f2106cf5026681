// A site of an identity, which opens to its cookies. They are read when it is opened, and again when they change.

import {browser} from "../api.js";
import {attempt} from "../attempt.js";
import {sizeText} from "../archive_words.js";
import {btn, errorLine, fav, h, icon, iconButton, plural} from "../dom.js";
import {dialog, menu, problem, toast} from "../layers.js";
import {ownerOf} from "../no_identity.js";
import {sentence} from "../sentences.js";
import {exactTime, shortDate, timeAgo} from "../times.js";
import {askToDeleteWithData, removeCookies} from "./cookie_removal.js";
import {CookieRow} from "./cookie_row.js";
import {emptiedText, removedText, siteDataText} from "./cookie_texts.js";

const PAGE = 200; // cookies that are drawn at first, and with each "Show more"
const COLUMNS = ["Name", "Value", "Expires", "Path", "Flags", "Last used"];
const open = new Set(); // cookieStoreId and host of the sites that are open
let bodies = 0;

export class SiteBlock {
  constructor(cookieStoreId, site) {
    this.cookieStoreId = cookieStoreId;
    this.host = site.host;
    this.rows = new Map(); // id → CookieRow
    this.since = h("span", {class: "line ellipsis"});
    this.used = h("span", {class: "faint small ellipsis"});
    this.count = h("span", {class: "faint small num"});
    this.limit = PAGE;
    this.content = h("div"); // the table, or why it could not be read
    this.stored = h("p", {class: "stored muted", hidden: true});
    this.body = h("div", {class: "cookies", id: `site-${++bodies}`, hidden: true}, this.content, this.stored);
    this.toggler = this.makeToggler();
    this.more = iconButton("ui-dots", `Actions for ${site.host}`, () => this.showMenu(), {"aria-haspopup": "menu"});
    this.el = h("div", {class: "site", role: "listitem"}, h("div", {class: "row"}, this.toggler, this.more), this.body);
    this.update(site);
    if (open.has(this.key)) this.setOpen(true);
  }

  get key() {
    return `${this.cookieStoreId} ${this.host}`;
  }

  get isOpen() {
    return !this.body.hidden;
  }

  makeToggler() {
    const name = h("span", {class: "ellipsis"}, this.host);
    const cols = h("span", {class: "cols"}, name, this.since, this.used, this.count);
    const props = {class: "disclosure", type: "button", "aria-expanded": "false", "aria-controls": this.body.id};
    const onclick = () => this.setOpen(!this.isOpen);
    const turn = h("span", {class: "turn"}, icon("ui-right"));
    return h("button", {...props, title: this.host, onclick}, turn, fav(this.host), cols);
  }

  // Shows what the list of sites says. The cookies of an open site are read again.
  update(site) {
    this.site = site;
    const isIn = site.signedInSince !== null;
    this.since.replaceChildren(
      ...(isIn
        ? [icon("ui-key"), `Signed in since ${shortDate(site.signedInSince)}`]
        : [h("span", {class: "faint"}, site.cookies ? "Cookies only" : "Site data only")]),
    );
    const noSignIn = site.cookies ? "None of the cookies looks like a sign-in" : "";
    this.since.title = isIn ? exactTime(site.signedInSince) : noSignIn;
    this.showTimes();
    this.count.textContent = site.cookies ? plural(site.cookies, "cookie") : sizeText(site.siteData);
    this.stored.hidden = !site.siteData;
    this.stored.textContent = site.siteData ? `Site data: ${siteDataText(site)}.` : "";
    if (this.isOpen) this.load();
  }

  // What becomes wrong by itself.
  showTimes() {
    for (const row of this.rows.values()) row.showTimes();
    const {lastUsed} = this.site;
    const ago = lastUsed === null ? "" : timeAgo(lastUsed);
    this.used.textContent = ago && (ago === "now" ? "In use now" : `Used ${ago}`);
  }

  setOpen(isOpen) {
    if (isOpen) open.add(this.key);
    else open.delete(this.key);
    this.body.hidden = !isOpen;
    this.el.classList.toggle("open", isOpen);
    this.toggler.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.load();
    else for (const row of this.rows.values()) row.hide();
  }

  async load() {
    this.generation = (this.generation ?? 0) + 1;
    const own = this.generation;
    try {
      const cookies = await browser.hatbox.sites.cookies(this.cookieStoreId, this.host);
      if (own === this.generation) this.draw(cookies);
    } catch (error) {
      if (own !== this.generation) return;
      this.table = null;
      this.rows.clear();
      this.content.replaceChildren(errorLine(error.message), btn("Try again", () => this.load(), {kind: "sm"}));
    }
  }

  // Rows stay where they are, with the focus and the values that are shown.
  draw(all) {
    if (!all.length) return this.drawNone();
    const cookies = all.slice(0, this.limit);
    this.table ??= this.makeTable();
    this.next.hidden = all.length <= this.limit;
    const ids = new Set(cookies.map((cookie) => cookie.id));
    for (const [id, row] of this.rows) if (!ids.has(id)) this.drop(row);
    let next = this.table.firstElementChild;
    for (const cookie of cookies) {
      const row = this.rows.get(cookie.id);
      if (row) row.update(cookie);
      const {el} = row ?? this.addRow(cookie);
      if (el === next) next = next.nextElementSibling;
      else this.table.insertBefore(el, next);
    }
  }

  drawNone() {
    if (this.content.contains(document.activeElement)) this.toggler.focus();
    this.table = null;
    this.rows.clear();
    this.content.replaceChildren();
  }

  showMore() {
    const last = this.table.lastElementChild;
    this.limit += PAGE;
    last.querySelector("td:last-child button").focus(); // the new rows follow it
    this.load();
  }

  makeTable() {
    const heads = COLUMNS.map((name) => h("th", {scope: "col"}, name));
    const actions = h("th", {scope: "col"}, h("span", {class: "vh"}, "Actions"));
    const rows = h("tbody");
    this.next = btn("Show more", () => this.showMore(), {kind: "sm", hidden: true});
    this.content.replaceChildren(
      h("table", {"aria-label": `Cookies of ${this.host}`}, h("thead", {}, h("tr", {}, heads, actions)), rows),
      this.next,
    );
    return rows;
  }

  addRow(cookie) {
    const row = new CookieRow(this.cookieStoreId, cookie, (each) => this.removeOne(each));
    this.rows.set(cookie.id, row);
    return row;
  }

  removeOne(row) {
    const {name, id} = row.cookie;
    const text = `Deleted cookie ${name || "without a name"} of ${this.host}.`;
    const change = async () => {
      await removeCookies(this.cookieStoreId, {cookie: id}, () => text);
      this.drop(row);
    };
    return attempt(row.deleter, change, {control: row.deleter});
  }

  // The focus goes to the neighbour.
  drop(row) {
    const neighbour = row.el.nextElementSibling ?? row.el.previousElementSibling;
    const next = neighbour?.querySelector("td:last-child button") ?? this.toggler;
    if (row.el.contains(document.activeElement)) next.focus();
    row.el.remove();
    this.rows.delete(row.cookie.id);
  }

  showMenu() {
    const {cookies, siteData} = this.site;
    const withData = cookies ? "Delete cookies and site data" : "Delete site data";
    menu(this.more, [
      cookies > 0 && {label: "Copy as curl", glyph: "ui-copy", run: () => this.copy()},
      cookies > 0 && "-",
      cookies > 0 && {label: "Delete cookies of this site", glyph: "ui-key", danger: true, run: () => this.removeAll()},
      siteData > 0 && {label: withData, glyph: "ui-trash", danger: true, run: () => this.askToDelete()},
    ], this.host);
  }

  askToDelete() {
    const name = ownerOf(this.cookieStoreId)?.name ?? "The identity";
    const {site} = this;
    const cookies = site.cookies ? `${plural(site.cookies, "cookie")}, and ` : "";
    askToDeleteWithData(this.cookieStoreId, {host: this.host}, {
      title: `Delete ${cookies ? "cookies and " : ""}site data of ${this.host}?`,
      contents: sentence`${name} has ${cookies}${siteDataText(site)}`,
      done: (removed) => emptiedText(removed, site, name),
    });
  }

  removeAll() {
    const name = ownerOf(this.cookieStoreId)?.name ?? "The identity";
    const {site} = this;
    const text = (count) => removedText(count, site, name);
    const change = () => removeCookies(this.cookieStoreId, {host: this.host}, text);
    return attempt(this.more, change, {control: this.more});
  }

  async copy() {
    let command = "";
    try {
      command = await browser.hatbox.sites.curl(this.cookieStoreId, this.host);
    } catch (error) {
      problem(this.more, error.message);
      return;
    }
    try {
      await navigator.clipboard.writeText(command);
      const which = this.site.signedInSince === null ? "with the cookies of" : "that is signed in on";
      toast(`Copied a curl command ${which} ${this.host}. Treat it like a password.`);
    } catch {
      showCommand(command, this.host);
    }
  }
}

// The browser does not let the page write to the clipboard: the user copies the command.
function showCommand(command, host) {
  const field = h("textarea", {class: "field mono command", readonly: true, "aria-label": "curl command"}, command);
  const text = "The browser did not allow copying. Copy the command from here, and treat it like a password.";
  dialog(`curl command for ${host}`, [h("p", {class: "muted"}, text), field], (close) => [btn("Close", close)]);
  field.select();
}
