// Identities: which do I have, what is open in each, where is each signed in?

import {browser} from "../api.js";
import {btn, empty, h, icon, iconButton, plural} from "../dom.js";
import {createIdentity, setReveal} from "../identity_actions.js";
import {identities} from "../identities_state.js";
import {importMenu} from "../identity_import.js";
import {matching} from "../identity_search.js";
import {thousands} from "../numbers.js";
import {remember, remembered} from "../remembered_choices.js";
import {afterAMoment, header, loadError, searchBox, segment} from "../screen_parts.js";
import {IdentityGrid} from "./identity_grid.js";

export const title = "Identities";

const MANY = 5000; // above: a search waits for the next key
const PAUSE = 60; // ms
const CONTENT_PAUSE = 120; // ms after the last key: then the server searches sites and tabs
const VIEW_CHOICE = "view";

// What the screen looks like when it is shown again.
const state = {query: "", filter: "all", view: rememberedView(), scrollTop: 0, opened: null};

function rememberedView() {
  return remembered(VIEW_CHOICE) === "rows" ? "rows" : "cards";
}

export function mount(root) {
  const screen = new IdentitiesScreen();
  root.append(...screen.nodes);
  screen.start();
  return screen;
}

class IdentitiesScreen {
  constructor() {
    this.scroller = h("div", {class: "scroll"});
    this.content = {query: "", ids: new Set(), isComplete: true}; // what the server has found
    this.grid = new IdentityGrid(this.scroller, {opened: (id) => (state.opened = id)});
    this.total = h("span", {});
    this.count = h("span", {class: "small muted", role: "status"});
    this.other = h("div", {}); // skeleton, empty state or error
    this.tools = this.makeTools();
    this.scroller.append(this.grid.host, this.other);
    const create = h(
      "button",
      {class: "btn primary", type: "button", "aria-keyshortcuts": "n", onclick: () => createIdentity()},
      icon("ui-plus"),
      "New identity",
    );
    const imports = iconButton("ui-upload", "Import identities", () => importMenu(imports), {"aria-haspopup": "menu"});
    this.nodes = [header(title, this.total, imports, create), this.tools, this.scroller];
  }

  start() {
    this.stop = identities.onChange((change) => {
      if (state.query.trim()) this.searchAgain(); // a site or a tab may be new
      this.update(change);
    });
    if (state.query.trim()) this.searchContent();
    setReveal((id) => this.grid.reveal(id));
    this.update({all: true});
    if (state.scrollTop) {
      this.scroller.scrollTop = state.scrollTop;
      this.grid.paint();
    }
    if (document.activeElement.matches("body, main") && state.opened) this.grid.focusKey(state.opened);
    state.opened = null;
    if (!identities.loaded && !identities.error) this.showSkeleton();
  }

  unmount() {
    state.scrollTop = this.scroller.scrollTop;
    this.isUnmounted = true;
    clearTimeout(this.timer);
    clearTimeout(this.contentTimer);
    setReveal(null);
    this.stop();
    this.grid.destroy();
  }

  makeTools() {
    this.search = searchBox("Search names, sites, tabs", state.query, (text) => this.onSearch(text));
    const filters = [["all", "All"], ["shown", "Shown"], ["hidden", "Hidden"]];
    const views = [["cards", "Cards", "ui-cards"], ["rows", "Rows", "ui-rows"]];
    this.filters = h("div", {}, this.makeFilter(filters));
    const view = segment("View", views, state.view, (chosen) => this.setView(chosen));
    return h("div", {class: "tools"}, this.search, this.count, h("div", {class: "end"}, this.filters, view));
  }

  makeFilter(filters) {
    return segment("Filter", filters, state.filter, (filter) => {
      state.filter = filter;
      this.showFromTop();
    });
  }

  onSearch(text) {
    state.query = text;
    this.searchContent();
    clearTimeout(this.timer);
    if (identities.all().length > MANY) this.timer = setTimeout(() => this.showFromTop(), PAUSE);
    else this.showFromTop();
  }

  // Sites and tabs are on the server: what it finds is added to what the page finds by itself.
  searchContent() {
    const query = state.query.trim();
    if (this.content.query !== query) this.content = {query, ids: new Set(), isComplete: !query};
    clearTimeout(this.contentTimer);
    this.contentTimer = query ? setTimeout(() => this.askServer(query), CONTENT_PAUSE) : null;
  }

  // A search that is under way is not started anew, which steady changes would do for ever: it is repeated.
  searchAgain() {
    if (this.isAsking) this.isOutdated = true;
    else if (!this.contentTimer) this.searchContent();
  }

  async askServer(query) {
    let ids = [];
    this.contentTimer = null;
    this.isAsking = true;
    this.isOutdated = false;
    try {
      ids = await browser.hatbox.identities.search(query);
    } catch (error) {
      console.error(error); // what the page has found by itself is shown
    }
    this.isAsking = false;
    if (this.isOutdated && !this.isUnmounted) this.searchAgain();
    if (this.content.query !== query) return;
    this.content = {query, ids: new Set(ids), isComplete: true};
    this.update({});
  }

  setView(view) {
    state.view = view;
    remember(VIEW_CHOICE, view);
    this.grid.setView(view);
    this.update({});
  }

  showFromTop() {
    this.update({});
    this.scroller.scrollTop = 0;
    this.grid.paint();
  }

  clearSearch() {
    state.query = "";
    this.searchContent();
    this.search.querySelector("input").value = "";
    this.filters.querySelector("[data-value=all]").click(); // shows all
    this.search.querySelector("input").focus();
  }

  // Draws what is known. change: what identities.onChange reports.
  update(change) {
    const all = identities.all();
    const isEverything = !state.query.trim() && state.filter === "all";
    const found = isEverything ? all : matching(all, state.query, state.filter, this.content.ids);
    this.tools.hidden = !all.length;
    this.total.textContent = all.length ? totalText(all) : "";
    this.count.textContent = isEverything ? "" : `${number(found.length)} of ${number(all.length)}`;
    this.grid.setView(state.view);
    this.grid.set(found, isEverything, change);
    if (identities.loaded || identities.error) this.showOther(found, all);
  }

  showOther(found, all) {
    const isWaiting = !found.length && !this.content.isComplete; // the server may find more
    const name = found.length || isWaiting ? "none" : identities.error ? "error" : all.length ? "nothing" : "empty";
    // Drawn once: a button in it keeps the focus while other things change.
    const key = name === "nothing" ? `${name} ${state.query} ${state.filter}` : `${name} ${identities.error}`;
    if (this.other.dataset.key === key) return;
    this.other.dataset.key = key;
    this.other.replaceChildren(...this.makeOther(name));
  }

  makeOther(name) {
    if (name === "error") return [loadError(identities.error, () => identities.load())];
    if (name === "nothing") return [nothingFound(() => this.clearSearch())];
    return name === "empty" ? [noIdentities()] : [];
  }

  showSkeleton() {
    let loaded = null;
    const first = new Promise((done) => (loaded = done));
    const stop = identities.onChange(() => {
      stop();
      loaded();
    });
    afterAMoment(first, () => this.other.replaceChildren(skeleton()));
  }
}

function number(count) {
  return thousands(count);
}

function totalText(all) {
  const hidden = all.filter((identity) => identity.hidden).length;
  return `${plural(all.length, "identity", "identities")}${hidden ? `, ${number(hidden)} hidden` : ""}`;
}

function nothingFound(clear) {
  const words = state.query.trim();
  const text = words ? `No identity, site or tab matches “${words}”.` : `No identity is ${state.filter}.`;
  return empty("ui-search", "Nothing found", text, btn("Clear search", clear));
}

function noIdentities() {
  const text = "An identity keeps its own cookies, so that two accounts of one site stay apart.";
  const create = btn("New identity", () => createIdentity(), {kind: "primary", lead: "ui-plus"});
  return empty("ui-brand", "No identities yet", text, create);
}

function skeleton() {
  const card = () => h("div", {class: "skel"}, h("i"), h("i"), h("i"), h("i"));
  const props = {class: "skels", role: "status", "aria-busy": "true", "aria-label": "Loading identities"};
  return h("div", props, Array.from({length: 12}, card));
}
