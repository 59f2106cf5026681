// Sites: who am I signed in as, where? All identities at once, live, by site.

import {btn, empty, h} from "../dom.js";
import {identities} from "../identities_state.js";
import {NO_IDENTITY} from "../no_identity.js";
import {isPhone} from "../phone.js";
import {header, loadError, searchBox, skeletonAfter} from "../screen_parts.js";
import {SiteFeed} from "../site_feed.js";
import {VirtualList} from "../virtual_list.js";
import {rowSignature, siteRow} from "./site_row.js";

export const title = "Sites";

const MANY = 5_000; // sites; above, a search waits for a pause
const PAUSE = 60; // ms
const NO_COOKIES = "No identity has cookies yet. Open the window of one and sign in to a site, or import a file of cookies.";
const AROUND = 82; // px: padding, gaps and letter of a row
const BESIDE = 296; // px at a font size of 16 px: host and number of identities
const DATED = 800; // px at a font size of 16 px: in narrower lists the names of identities need the place of the dates
const LEGEND = "Dashed: has cookies or site data, but no cookie that looks like a sign-in.";

const state = {query: ""};

export function mount(root) {
  const screen = new SitesScreen(root);
  return {unmount: () => screen.unmount()};
}

class SitesScreen {
  constructor(root) {
    this.list = h("div", {class: "box sites"});
    this.other = h("div");
    this.search = searchBox("Find a site or an identity", state.query, (text) => this.onSearch(text));
    const legend = h("span", {class: "small muted hide-narrow"}, LEGEND);
    this.tools = h("div", {class: "tools", hidden: true}, this.search, legend);
    this.scroller = h("div", {class: "scroll"}, h("div", {class: "measure"}, this.list, this.other));
    const head = header(title, "Who am I signed in as, where?");
    root.append(h("div", {class: "main-in narrow"}, head, this.tools, this.scroller));
    this.rows = this.makeList();
    this.list.append(this.rows.host);
    this.feed = new SiteFeed(null, () => this.update());
    this.stopIdentities = identities.onChange(() => this.update());
    this.feed.start();
    this.stopSkeleton = skeletonAfter(this.other, "Loading sites", () => this.feed.isLoaded || this.feed.error);
  }

  unmount() {
    clearTimeout(this.timer);
    this.stopIdentities();
    this.stopSkeleton();
    this.feed.stop();
    this.rows.destroy();
  }

  makeList() {
    return new VirtualList(this.scroller, {
      label: "Sites",
      key: (row) => row.host,
      create: (row) => siteRow(row, this.room()),
      signature: (row) => rowSignature(row, this.room()),
      size: () => ({minWidth: 0, height: isPhone() ? 84 : 48, gap: 0}),
      cls: "sitelist",
    });
  }

  // The room for chips in a row.
  room() {
    const {geometry, rem} = this.rows;
    const space = geometry.width - (isPhone() ? 32 : AROUND + BESIDE * rem);
    return {space, rem, withSince: geometry.width >= DATED * rem};
  }

  onSearch(text) {
    state.query = text;
    clearTimeout(this.timer);
    if (this.feed.index.hosts.size > MANY) this.timer = setTimeout(() => this.showFromTop(), PAUSE);
    else this.showFromTop();
  }

  showFromTop() {
    this.update();
    this.scroller.scrollTop = 0;
    this.rows.paint();
  }

  clearSearch() {
    const field = this.search.querySelector("input");
    field.value = state.query = "";
    this.showFromTop();
    field.focus();
  }

  update() {
    if (!this.feed.isLoaded && !this.feed.error) return;
    const query = state.query.trim().toLowerCase();
    const {index} = this.feed;
    const found = query ? index.find(query, namedLike(query)) : index.rows();
    this.tools.hidden = !index.hosts.size;
    this.list.hidden = !found.length;
    this.showOther(found.length ? "none" : this.feed.error ? "error" : index.hosts.size ? `nothing ${query}` : "empty");
    this.rows.set(found);
  }

  // Drawn once for each state: a button in it keeps the focus while other things change.
  showOther(name) {
    if (this.other.dataset.state === name) return;
    this.other.dataset.state = name;
    this.other.replaceChildren(...this.makeOther(name));
  }

  makeOther(name) {
    if (name === "none") return [];
    if (name === "error") return [loadError(this.feed.error, () => this.tryAgain())];
    if (name === "empty") return [empty("ui-sites", "Signed in nowhere", NO_COOKIES, toIdentities())];
    const text = `No site and no identity with cookies matches “${state.query.trim()}”.`;
    return [empty("ui-search", "Nothing found", text, btn("Clear search", () => this.clearSearch()))];
  }

  tryAgain() {
    this.feed.error = null;
    this.feed.load();
  }
}

function toIdentities() {
  return h("a", {class: "btn", href: "#/identities"}, "Choose an identity");
}

// The cookieStoreIds of the identities with a matching name.
function namedLike(query) {
  const named = identities.all().filter((identity) => identity.name.toLowerCase().includes(query));
  const ids = new Set(named.map((identity) => identity.cookieStoreId));
  if (NO_IDENTITY.name.toLowerCase().includes(query)) ids.add(NO_IDENTITY.cookieStoreId);
  return ids;
}
