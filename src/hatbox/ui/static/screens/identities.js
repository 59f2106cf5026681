// Identities: which do I have, what is open in each, where is each signed in?

import {btn, empty, h, icon, plural} from "../dom.js";
import {createIdentity, setReveal} from "../identity_actions.js";
import {identities} from "../identities_state.js";
import {matching} from "../identity_search.js";
import {afterAMoment, header, loadError, searchBox, segment} from "../screen_parts.js";
import {IdentityGrid} from "./identity_grid.js";

export const title = "Identities";

const MANY = 5000; // above: a search waits for the next key
const PAUSE = 60; // ms
const VIEW_KEY = "hatbox.view";

// What the screen looks like when it is shown again.
const state = {query: "", filter: "all", view: rememberedView(), scrollTop: 0, opened: null};

function rememberedView() {
  return localStorage.getItem(VIEW_KEY) === "rows" ? "rows" : "cards";
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
    this.nodes = [header(title, this.total, create), this.tools, this.scroller];
  }

  start() {
    this.stop = identities.onChange((change) => this.update(change));
    setReveal((id) => this.grid.reveal(id));
    this.update({all: true});
    this.scroller.scrollTop = state.scrollTop;
    this.grid.paint();
    if (document.activeElement === document.body && state.opened) this.grid.focusKey(state.opened);
    if (!identities.loaded && !identities.error) this.showSkeleton();
  }

  unmount() {
    state.scrollTop = this.scroller.scrollTop;
    clearTimeout(this.timer);
    setReveal(null);
    this.stop();
    this.grid.destroy();
  }

  makeTools() {
    this.search = searchBox("Search names and sites", state.query, (text) => this.onSearch(text));
    const filters = [["all", "All"], ["shown", "Shown"], ["hidden", "Hidden"]];
    const views = [["cards", "Cards", "ui-cards"], ["rows", "Rows", "ui-rows"]];
    this.filters = h("div", {}, this.makeFilter(filters));
    const view = segment("View", views, state.view, (chosen) => this.setView(chosen));
    return h("div", {class: "tools"}, this.search, this.count, h("div", {class: "end"}, this.filters, view));
  }

  makeFilter(filters) {
    return segment("Which", filters, state.filter, (filter) => {
      state.filter = filter;
      this.showFromTop();
    });
  }

  onSearch(text) {
    state.query = text;
    clearTimeout(this.timer);
    if (identities.all().length > MANY) this.timer = setTimeout(() => this.showFromTop(), PAUSE);
    else this.showFromTop();
  }

  setView(view) {
    state.view = view;
    localStorage.setItem(VIEW_KEY, view);
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
    this.search.querySelector("input").value = "";
    this.filters.querySelector("[data-value=all]").click(); // shows all
    this.search.querySelector("input").focus();
  }

  // Draws what is known. change: what identities.onChange reports.
  update(change) {
    const all = identities.all();
    const isEverything = !state.query.trim() && state.filter === "all";
    const found = isEverything ? all : matching(all, state.query, state.filter);
    this.tools.hidden = !all.length;
    this.total.textContent = all.length ? totalText(all) : "";
    this.count.textContent = isEverything ? "" : `${number(found.length)} of ${number(all.length)}`;
    this.grid.setView(state.view);
    this.grid.set(found, isEverything, change);
    if (identities.loaded || identities.error) this.showOther(found, all);
  }

  showOther(found, all) {
    const name = found.length ? "none" : identities.error ? "error" : all.length ? "nothing" : "empty";
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
  return count.toLocaleString("en");
}

function totalText(all) {
  const hidden = all.filter((identity) => identity.hidden).length;
  return `${plural(all.length, "identity", "identities")}, ${number(hidden)} hidden`;
}

function nothingFound(clear) {
  const words = state.query.trim();
  const text = words ? `No identity or site matches “${words}”.` : `No identity is ${state.filter}.`;
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
