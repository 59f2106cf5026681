// A list or grid of equal cells in which only what is visible is in the DOM. Place is arithmetic: index → column and
// row → transform. Cells are keyed: a change redraws one cell and moves neither focus nor scroll position.

import {h} from "./dom.js";
import {GridGeometry} from "./grid_geometry.js";
import {stationary} from "./stationary.js";

export class VirtualList {
  // scroller: the element that scrolls. Options:
  //   label      the name of the list for screen readers
  //   key        item → string, unique
  //   create     item → the element of a cell
  //   update     (element, item): called after create and when the signature of the item has changed.
  //              Without it the element is made anew; focus returns to the part with the same data-part.
  //   signature  item → string; what is visible of the item
  //   size       () → {minWidth, height, gap} in px at a font size of 16 px; minWidth 0 for rows
  //   cls        class of the list element
  constructor(scroller, {label, key, create, update = null, signature, size, cls = ""}) {
    Object.assign(this, {scroller, key, create, update, signature, size});
    this.host = h("div", {class: `vgrid ${cls}`, role: "list", "aria-label": label});
    this.items = [];
    this.indexes = new Map(); // key → index
    this.cells = new Map(); // key → element, of what is in the DOM
    this.lifted = null; // {key, at: [left, top] | null}: the cell that is being moved (see reorder.js)
    this.isStill = true; // no transitions at the next paint
    this.height = 0;
    this.painted = ""; // the extent at the last paint
    this.onScroll = () => {
      this.frame ??= requestAnimationFrame(() => this.paint());
    };
    scroller.addEventListener("scroll", this.onScroll, {passive: true});
    this.resized = new ResizeObserver(() => {
      if (this.painted === this.extent()) return; // reported for the first time, after the first paint
      this.isStill = true;
      this.paint();
    });
    this.resized.observe(scroller);
    this.resized.observe(this.host);
  }

  destroy() {
    this.scroller.removeEventListener("scroll", this.onScroll);
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  // Shows these items, in this order.
  set(items) {
    this.items = items;
    this.indexes = new Map(items.map((item, index) => [this.key(item), index]));
    this.paint();
  }

  // Draws every cell anew, for example after a change of view.
  reset() {
    for (const cell of this.cells.values()) cell.remove();
    this.cells.clear();
    this.isStill = true;
  }

  indexOf(key) {
    return this.indexes.get(key) ?? -1;
  }

  // The element of a cell, when it is in the DOM.
  cell(key) {
    return this.cells.get(key);
  }

  // The key of the cell that contains an element.
  keyOf(element) {
    const cell = element?.closest?.("[data-key]");
    return cell && this.host.contains(cell) ? cell.dataset.key : undefined;
  }

  measure() {
    const {minWidth, height, gap} = this.size();
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // cells grow with the font
    const cell = {minWidth: minWidth * rem, height: Math.round(height * rem), gap};
    this.rem = rem;
    this.geometry = new GridGeometry({width: this.host.clientWidth, ...cell});
  }

  // What the cells depend on beside the items.
  extent() {
    const {host, scroller} = this;
    return `${host.clientWidth} ${scroller.clientHeight} ${getComputedStyle(document.documentElement).fontSize}`;
  }

  // Reads before it writes: each read after a write would make the browser lay out the page again.
  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    if (!this.items.length && !this.cells.size) {
      this.setHeight(0);
      return;
    }
    if (!this.host.clientWidth) return;
    this.measure();
    const {geometry, scroller, host} = this;
    const height = geometry.total(this.items.length);
    if (height < this.height) this.setHeight(height); // the scroller may move
    const top = scroller.scrollTop - this.offset();
    const [first, last] = geometry.range(top, scroller.clientHeight, this.items.length);
    this.painted = this.extent();
    this.setHeight(height);
    host.classList.toggle("still", this.isStill);
    this.isStill = false;
    const shown = new Set();
    for (let index = first; index < last; index++) shown.add(index);
    for (const key of this.pinned()) if (this.indexes.has(key)) shown.add(this.indexOf(key));
    this.draw([...shown].sort((a, b) => a - b));
  }

  setHeight(height) {
    if (height === this.height) return;
    this.height = height;
    this.host.style.height = `${height}px`;
  }

  // The keys of cells that stay in the DOM wherever they are: with the focus, lifted, with an open menu.
  pinned() {
    const opened = this.host.querySelector("[aria-expanded=true]");
    return [this.keyOf(document.activeElement), this.lifted?.key, this.keyOf(opened)];
  }

  // How far the list is below the start of the scroller's content.
  offset() {
    const {host, scroller} = this;
    return host.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
  }

  draw(indexes) {
    const before = this.cells;
    this.cells = new Map();
    for (const index of indexes) {
      const item = this.items[index];
      const key = this.key(item);
      const cell = this.current(before.get(key), item, key);
      before.delete(key);
      this.cells.set(key, cell);
      this.position(cell, index, key);
    }
    // A new element in place of one that leaves costs less than changing that one: its colors would be mixed anew.
    const lost = [...before.values()].find((cell) => cell.contains(document.activeElement));
    const part = lost && document.activeElement.dataset.part;
    for (const cell of before.values()) cell.remove();
    if (!this.lifted) this.sort();
    if (lost) this.passFocus(lost.getAttribute("aria-posinset") - 1, part);
  }

  // The item with the focus is gone: the focus goes to the item that has its place now, or to the one before. It never
  // scrolls, so that a change by another program does not move the page.
  passFocus(index, part) {
    const item = this.items[Math.min(index, this.items.length - 1)];
    const cell = item && this.cells.get(this.key(item));
    const candidates = cell ? [...cell.querySelectorAll("a[href], button, input, [tabindex]")] : [];
    const visible = candidates.filter((each) => !each.disabled && each.checkVisibility());
    const target = visible.find((each) => each.dataset.part === part) ?? visible[0] ?? this.host.closest("main");
    target?.focus({preventScroll: true});
  }

  // The cell of an item with its present content.
  current(cell, item, key) {
    const signature = this.signature(item);
    if (cell?.dataset.signature === signature) return cell;
    if (cell && this.update) {
      cell.dataset.signature = signature;
      this.update(cell, item);
      return cell;
    }
    const fresh = this.create(item);
    fresh.setAttribute("role", "listitem");
    fresh.dataset.key = key;
    fresh.dataset.signature = signature;
    this.update?.(fresh, item);
    if (cell) replaceKeepingFocus(cell, fresh);
    else this.host.append(fresh);
    return fresh;
  }

  position(cell, index, key) {
    const {geometry} = this;
    const isLifted = this.lifted?.key === key;
    const [left, top] = (isLifted && this.lifted.at) || geometry.place(index);
    cell.style.width = `${geometry.width}px`;
    cell.style.height = `${geometry.height}px`;
    cell.style.transform = `translate(${left}px, ${top}px)`;
    cell.setAttribute("aria-setsize", this.items.length);
    cell.setAttribute("aria-posinset", index + 1);
    cell.classList.toggle("is-lifted", isLifted);
    cell.classList.toggle("by-key", isLifted && !this.lifted.at);
  }

  // Reading order = visual order. As few elements as possible move, and never the one with the focus: it would lose it.
  sort() {
    const wanted = [...this.cells.values()];
    const places = new Map([...this.host.children].map((child, place) => [child, place]));
    const focused = wanted.indexOf(this.cells.get(this.keyOf(document.activeElement)));
    const staying = stationary(wanted.map((cell) => places.get(cell)), focused);
    let next = null;
    for (let index = wanted.length - 1; index >= 0; index--) {
      if (!staying.has(index)) this.host.insertBefore(wanted[index], next);
      next = wanted[index];
    }
  }

  // Scrolls as little as needed to show a cell.
  show(index) {
    if (!this.geometry || index < 0) return;
    const {scroller} = this;
    const [, place] = this.geometry.place(index);
    const top = place + this.offset();
    const clear = Math.min(100, scroller.clientHeight / 4); // room for a toast below it
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + this.geometry.height + clear > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = top + this.geometry.height + clear - scroller.clientHeight;
    }
    this.paint();
  }

  // Shows a cell and focuses its link, or its part with this data-part.
  focus(index, part = "link") {
    this.show(index);
    const cell = this.items[index] && this.cells.get(this.key(this.items[index]));
    cell?.querySelector(`[data-part="${part}"]`)?.focus({preventScroll: true});
  }
}

function replaceKeepingFocus(old, fresh) {
  const active = document.activeElement;
  const part = old.contains(active) ? active.dataset.part : null;
  old.replaceWith(fresh);
  if (part) fresh.querySelector(`[data-part="${part}"]`)?.focus({preventScroll: true});
}
