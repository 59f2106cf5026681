// The list of identities beside the detail of one, with a search. Only what is visible is in the DOM.

import {h, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {matching} from "./identity_search.js";
import {thousands} from "./numbers.js";
import {searchBox} from "./screen_parts.js";
import {VirtualList} from "./virtual_list.js";

const HEIGHT = 36; // px

// One stop of the Tab key, however many identities: the arrow keys move within the list.
class PeerRows extends VirtualList {
  constructor(scroller, options) {
    super(scroller, options);
    this.host.addEventListener("focusin", () => this.markStop());
  }

  paint() {
    super.paint();
    this.markStop();
  }

  // The focused identity, else the one that the detail shows, else the first.
  markStop() {
    const wanted = [this.keyOf(document.activeElement), this.stop].find((key) => this.cells.has(key));
    const stop = wanted ?? this.cells.keys().next().value;
    for (const [key, cell] of this.cells) cell.firstElementChild.tabIndex = key === stop ? 0 : -1;
  }
}

export class PeerList {
  constructor() {
    this.query = "";
    this.current = {id: "", tab: "tabs"};
    this.scroller = h("div", {class: "peer-scroll"});
    this.list = new PeerRows(this.scroller, {
      label: "Identities",
      cls: "peer-rows",
      key: (identity) => identity.cookieStoreId,
      create: () => h("div", {class: "peer"}, h("a", {"data-part": "link"})),
      update: (cell, identity) => this.draw(cell.firstElementChild, identity),
      signature: (identity) => this.signature(identity),
      size: () => ({minWidth: 0, height: HEIGHT, gap: 0}),
    });
    this.list.host.addEventListener("keydown", (event) => this.onKey(event));
    this.scroller.append(this.list.host);
    const search = searchBox("Find an identity", "", (text) => this.search(text));
    this.el = h("aside", {class: "peers", "aria-label": "Identities"}, search, this.scroller);
  }

  signature({cookieStoreId: id, name, color, icon, hidden, tabs}) {
    return JSON.stringify([name, color, icon, hidden, tabs, this.current.tab, id === this.current.id]);
  }

  draw(link, identity) {
    const {cookieStoreId: id, name, color, hidden, tabs} = identity;
    link.href = `#/identity/${encodeURIComponent(id)}/${this.current.tab}`;
    link.dataset.color = color;
    link.classList.toggle("is-hidden", hidden);
    if (id === this.current.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    const number = tabs && h("span", {class: "num"}, thousands(tabs), h("span", {class: "vh"}, tabs === 1 ? " tab" : " tabs"));
    link.replaceChildren(tile(identity), h("span", {class: "ellipsis grow", dir: "auto"}, name));
    if (hidden) link.append(h("span", {class: "vh"}, "Hidden"));
    if (number) link.append(number);
  }

  // Shows which identity and tab the detail shows. isNew: scrolls to it.
  select(id, tab, {isNew = false} = {}) {
    this.current = {id, tab};
    this.list.stop = id;
    this.update();
    if (isNew) this.list.show(this.list.indexOf(id));
  }

  search(text) {
    this.query = text;
    this.scroller.scrollTop = 0;
    this.update();
  }

  update() {
    const all = identities.all();
    this.list.set(this.query.trim() ? matching(all, this.query, "all") : all);
  }

  onKey(event) {
    const last = this.list.items.length - 1;
    const at = this.list.indexOf(this.list.keyOf(event.target));
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last}[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (to < 0 || to > last) return;
    event.preventDefault();
    this.list.focus(to);
  }

  destroy() {
    this.list.destroy();
  }
}
