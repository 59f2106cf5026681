// A list of tabs of which only the visible rows are in the DOM: in groups by identity, or those of one identity.

import {btn, h, tile} from "./dom.js";
import {setHidden} from "./identity_actions.js";
import {thousands} from "./numbers.js";
import {isPhone} from "./phone.js";
import {rowsOf} from "./tab_order.js";
import {showTime, tabRow, tabSignature} from "./tab_row.js";
import {everyMinute} from "./times.js";
import {VirtualList} from "./virtual_list.js";

export class TabList extends VirtualList {
  constructor(scroller, {label, isGrouped}) {
    super(scroller, {
      label,
      cls: isGrouped ? "tab-groups" : "tab-rows",
      key: (row) => row.key,
      create: (row) => (row.tab ? this.makeRow(row) : this.makeHead(row)),
      signature: (row) => (row.tab ? `${tabSignature(row.tab)}${row.isLast}${row.identity.color}` : headSignature(row)),
      size: () => ({minWidth: 0, height: isPhone() ? 56 : 46, gap: 0}),
    });
    this.stopTimer = everyMinute(() => this.paint());
    this.isGrouped = isGrouped;
  }

  // groups: as tab_order.js makes them.
  showGroups(groups) {
    const rows = rowsOf(groups);
    this.set(this.isGrouped ? rows : rows.filter((row) => row.tab));
  }

  paint() {
    super.paint();
    for (const [key, cell] of this.cells) {
      const {tab} = this.items[this.indexOf(key)];
      if (tab) showTime(cell, tab);
    }
  }

  makeRow({tab, identity, isLast}) {
    const row = tabRow(tab, this.host);
    if (identity.color !== null) row.dataset.color = identity.color;
    row.classList.toggle("is-last", isLast);
    return row;
  }

  makeHead({identity, count}) {
    const {cookieStoreId: id, name, hidden, color} = identity;
    const href = `#/identity/${encodeURIComponent(id)}/tabs`;
    const isIdentity = color !== null;
    const title = isIdentity ? h("a", {href, "data-part": "link"}, name) : name;
    const toggle = btn(hidden ? "Show" : "Hide", () => setHidden(identity, !hidden, toggle), {
      kind: hidden ? "sm" : "sm quiet",
      lead: hidden ? "ui-eye" : undefined,
      "aria-label": `${hidden ? "Show" : "Hide"} ${name}`,
      "data-part": "hide",
    });
    const head = h(
      "header",
      {},
      isIdentity && tile(identity),
      h("h2", {class: "ellipsis", dir: "auto"}, title),
      h("span", {class: "num"}, thousands(count)),
      h("span", {class: "grow"}),
      isIdentity && toggle,
    );
    return h("div", {class: "group", "data-color": color}, head);
  }

  destroy() {
    super.destroy();
    this.stopTimer();
  }
}

function headSignature({identity, count}) {
  return JSON.stringify([identity.name, identity.color, identity.icon, identity.hidden, count]);
}
