// The cookies of one identity, by site: values on request, deletion with Undo, curl commands, files. Live.

import {attempt} from "../attempt.js";
import {btn, empty, h} from "../dom.js";
import {menu} from "../layers.js";
import {ownerOf} from "../no_identity.js";
import {thousands} from "../numbers.js";
import {loadError, searchBox, skeletonAfter} from "../screen_parts.js";
import {sentence} from "../sentences.js";
import {SiteFeed} from "../site_feed.js";
import {everyMinute} from "../times.js";
import {DropPlace, exportButton} from "./cookie_files.js";
import {askToDeleteWithData, removeCookies} from "./cookie_removal.js";
import {allRemovedText, summaryText} from "./cookie_texts.js";
import {SiteBlock} from "./site_block.js";

const PAGE = 100; // sites that are drawn at first, and with each "Show more"
const SEARCHED = 12; // sites; above, a search is worth its place

export function mount(root, cookieStoreId) {
  const panel = new CookiesPanel(root, cookieStoreId);
  return {unmount: () => panel.unmount()};
}

class CookiesPanel {
  constructor(root, cookieStoreId) {
    this.cookieStoreId = cookieStoreId;
    this.blocks = new Map(); // host → SiteBlock
    this.query = "";
    this.limit = PAGE;
    this.summary = h("span", {class: "muted grow"});
    this.deleter = btn("Delete all", () => this.onDelete(), {kind: "sm danger"});
    const buttons = [exportButton(cookieStoreId), this.deleter];
    this.lead = h("div", {class: "line wrap lead", hidden: true}, this.summary, buttons);
    this.search = searchBox("Find a site", "", (text) => this.onSearch(text));
    this.search.classList.add("cookies-find");
    this.search.hidden = true;
    this.list = h("div", {class: "box", role: "list", "aria-label": "Sites", hidden: true});
    this.shown = h("span", {class: "muted small"});
    const next = btn("Show more", () => this.showMore(), {kind: "sm"});
    this.more = h("div", {class: "cookies-more", hidden: true}, this.shown, next);
    this.other = h("div");
    const sites = h("div", {}, this.list, this.more, this.other);
    this.drop = new DropPlace(cookieStoreId, root.closest(".scroll") ?? root);
    root.append(h("div", {class: "panel measure"}, this.lead, this.search, sites, this.drop.el));
    this.feed = new SiteFeed(cookieStoreId, () => this.update());
    this.stopSkeleton = skeletonAfter(this.other, "Loading cookies", () => this.feed.isLoaded || this.feed.error);
    this.feed.start();
    this.stopClock = everyMinute(() => this.blocks.forEach((block) => block.showTimes()));
  }

  unmount() {
    this.stopClock();
    this.stopSkeleton();
    this.feed.stop();
    this.drop.destroy();
  }

  onSearch(text) {
    this.query = text.trim().toLowerCase();
    this.limit = PAGE;
    this.update();
  }

  showMore() {
    const first = this.limit;
    this.limit += PAGE;
    this.update();
    this.list.children[first]?.querySelector(".disclosure").focus();
  }

  update() {
    const all = this.feed.index.of(this.cookieStoreId);
    const found = this.query ? all.filter((site) => site.host.includes(this.query)) : all;
    if (!all.length && this.lead.contains(document.activeElement)) this.drop.chooser.focus();
    this.lead.hidden = !all.length;
    this.summary.textContent = summaryText(all);
    this.search.hidden = all.length <= SEARCHED && !this.query;
    this.drawSites(found.slice(0, this.limit));
    this.list.hidden = !found.length;
    this.more.hidden = found.length <= this.limit;
    this.shown.textContent = `${thousands(this.limit)} of ${thousands(found.length)} sites`;
    this.showOther(found.length ? "none" : this.feed.error ? "error" : all.length ? `nothing ${this.query}` : "empty");
  }

  // Blocks stay in the document where they can: what is open stays open, and the focus where it is.
  drawSites(sites) {
    const focused = document.activeElement?.closest?.(".site");
    const hosts = new Set(sites.map((site) => site.host));
    for (const [host, block] of this.blocks) {
      if (hosts.has(host)) continue;
      const neighbour = block.el.nextElementSibling ?? block.el.previousElementSibling ?? this.drop.el;
      if (block.el === focused) neighbour.querySelector("button").focus();
      block.el.remove();
      this.blocks.delete(host);
    }
    let next = this.list.firstElementChild;
    for (const site of sites) {
      const el = this.blockOf(site).el;
      while (el === focused && next && next !== el) {
        const passed = next; // the others move around the focused one: an element that moves loses the focus
        next = next.nextElementSibling;
        this.list.append(passed);
      }
      if (el === next) next = next.nextElementSibling;
      else this.list.insertBefore(el, next);
    }
  }

  blockOf(site) {
    const known = this.blocks.get(site.host);
    if (known) known.update(site);
    else this.blocks.set(site.host, new SiteBlock(this.cookieStoreId, site));
    return this.blocks.get(site.host);
  }

  showOther(name) {
    if (this.other.dataset.state === name) return;
    this.other.dataset.state = name;
    this.other.replaceChildren(...this.makeOther(name));
  }

  makeOther(name) {
    if (name === "none") return [];
    if (name === "error") return [loadError(this.feed.error, () => this.feed.load())];
    if (name !== "empty") return [empty("ui-search", "Nothing found", `No site matches “${this.query}”.`)];
    const owner = ownerOf(this.cookieStoreId)?.name ?? "This identity";
    const text = `${owner} has no cookies. Open its window and sign in to a site, or import a file.`;
    return [empty("ui-key", "Signed in nowhere", text)];
  }

  // With site data the user chooses: cookies can be restored, site data cannot.
  onDelete() {
    const all = this.feed.index.of(this.cookieStoreId);
    if (!all.some((site) => site.siteData)) return this.removeAll();
    const hasCookies = all.some((site) => site.cookies);
    const label = hasCookies ? "Delete all cookies and site data" : "Delete all site data";
    return menu(this.deleter, [
      hasCookies && {label: "Delete all cookies", glyph: "ui-key", danger: true, run: () => this.removeAll()},
      {label, glyph: "ui-trash", danger: true, run: () => this.askToDeleteAll(all, hasCookies)},
    ], "Delete all");
  }

  askToDeleteAll(all, hasCookies) {
    const name = ownerOf(this.cookieStoreId)?.name ?? "the identity";
    const what = hasCookies ? "cookies and site data" : "site data";
    askToDeleteWithData(this.cookieStoreId, {all: true}, {
      title: sentence`Delete all ${what} of ${name}?`,
      contents: summaryText(all).replace(/, which no other.*/, ""),
      done: () => sentence`Deleted all ${what} of ${name}. It is signed out everywhere.`,
    });
  }

  removeAll() {
    const name = ownerOf(this.cookieStoreId)?.name ?? "the identity";
    const text = allRemovedText(this.feed.index.of(this.cookieStoreId), name);
    const change = () => removeCookies(this.cookieStoreId, {all: true}, () => text);
    return attempt(this.deleter, change, {control: this.deleter});
  }
}
