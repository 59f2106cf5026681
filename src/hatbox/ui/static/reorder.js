// Moving a cell of a VirtualList to another place, with the pointer or with the keyboard. The list shows the order
// that would result; `drop(key, from, to)` is called with the places when the cell is dropped.

import {h, say} from "./dom.js";
import {moved} from "./grid_geometry.js";

const EDGE = 48; // px from the edge of the scroller: nearer, it scrolls
const SPEED = 10; // px per frame

export class Reorder {
  // name: key → the name for announcements.
  constructor(list, {name, drop}) {
    Object.assign(this, {list, name, drop});
    this.before = null; // the items before the move; null when none is going on
    this.cancelMove = null;
  }

  get isActive() {
    return this.before !== null;
  }

  // The items of the list without the move that is going on.
  start(key, at) {
    this.before = this.list.items;
    this.from = this.list.indexOf(key);
    this.list.lifted = {key, at};
  }

  // Shows the cell at another place.
  to(index) {
    const {list} = this;
    const at = list.indexOf(list.lifted.key);
    if (index !== at) list.set(moved(list.items, at, index));
    else list.paint();
  }

  // Ends the move and returns the place of the cell.
  end(isDropped) {
    const {list, before, from} = this;
    const {key} = list.lifted;
    const place = list.indexOf(key);
    this.before = null;
    list.lifted = null;
    this.removeGhost();
    if (isDropped && place !== from) {
      list.paint();
      this.drop(key, from, place);
    } else {
      list.set(before);
    }
    return place;
  }

  // The items of the list change during a move. Returns them in the order to show: a change of their content does not
  // disturb the move, a change of their order ends it.
  accept(items) {
    const {list, before} = this;
    const isSame = items.length === before.length && items.every((item, at) => list.key(item) === list.key(before[at]));
    if (!isSame) {
      this.cancel();
      return items;
    }
    this.before = items;
    const current = new Map(items.map((item) => [list.key(item), item]));
    return list.items.map((item) => current.get(list.key(item)));
  }

  cancel() {
    if (this.cancelMove) this.cancelMove();
    else this.end(false);
    say("Move cancelled");
  }

  // --- pointer

  startWithPointer(event, key) {
    if (event.button || this.isActive) return;
    event.preventDefault();
    const {list} = this;
    const handle = event.currentTarget;
    const box = list.host.getBoundingClientRect();
    const [left, top] = list.geometry.place(list.indexOf(key));
    const grab = [event.clientX - box.left - left, event.clientY - box.top - top];
    const pointer = [event.clientX, event.clientY];
    this.start(key, [left, top]);
    handle.setPointerCapture(event.pointerId);
    list.paint();
    this.addGhost();

    const end = (isDropped) => {
      cancelAnimationFrame(frame);
      this.cancelMove = null;
      removeEventListener("keydown", onKey, true);
      removeEventListener("lostpointercapture", onLost, true);
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
      this.end(isDropped);
    };
    const onKey = (key) => {
      if (key.key !== "Escape") return;
      key.preventDefault();
      key.stopPropagation();
      end(false);
    };
    // Of a handle that left the document this is an event of the document.
    const onLost = ({pointerId}) => pointerId === event.pointerId && end(false);
    const step = () => {
      this.follow(pointer, grab);
      frame = requestAnimationFrame(step);
    };
    let frame = requestAnimationFrame(step);
    this.cancelMove = () => end(false);
    addEventListener("keydown", onKey, true);
    addEventListener("lostpointercapture", onLost, true);
    handle.onpointermove = (move) => pointer.splice(0, 2, move.clientX, move.clientY);
    handle.onpointerup = () => {
      this.follow(pointer, grab);
      end(true);
    };
    handle.onpointercancel = () => end(false);
  }

  // Places the lifted cell at the pointer and makes room where it would land.
  follow([x, y], [grabX, grabY]) {
    const {list} = this;
    const view = list.scroller.getBoundingClientRect();
    if (y < view.top + EDGE) list.scroller.scrollTop -= SPEED;
    else if (y > view.bottom - EDGE) list.scroller.scrollTop += SPEED;
    const box = list.host.getBoundingClientRect();
    const at = [x - box.left - grabX, y - box.top - grabY];
    list.lifted.at = at;
    this.to(list.geometry.indexAt(...at, list.items.length));
    this.placeGhost();
  }

  addGhost() {
    this.ghost = h("div", {class: "ghost", "aria-hidden": "true"});
    this.list.host.append(this.ghost);
    this.placeGhost();
  }

  placeGhost() {
    const {geometry, lifted} = this.list;
    const [left, top] = geometry.place(this.list.indexOf(lifted.key));
    this.ghost.style.width = `${geometry.width}px`;
    this.ghost.style.height = `${geometry.height}px`;
    this.ghost.style.transform = `translate(${left}px, ${top}px)`;
  }

  removeGhost() {
    this.ghost?.remove();
    this.ghost = null;
  }

  // --- keyboard

  lift(key) {
    this.start(key, null);
    this.list.paint();
    const place = `place ${this.from + 1} of ${this.before.length}`;
    say(`${this.name(key)} lifted, ${place}. Arrow keys move it, Space drops it, Escape cancels.`);
  }

  // The focus leaves an element of the list: a cell that was lifted with the keyboard is not moved any more.
  focusOut({target, relatedTarget}) {
    const {list} = this;
    if (!this.isActive || list.lifted.at) return;
    const {key} = list.lifted;
    if (list.keyOf(target) !== key || list.keyOf(relatedTarget) === key) return;
    queueMicrotask(() => {
      const isElsewhere = list.keyOf(document.activeElement) !== key; // false when only the window lost the focus
      if (isElsewhere && this.isActive && list.lifted.key === key) this.cancel();
    });
  }

  // A key while a cell is lifted. Returns whether it was used.
  key(event) {
    const {list} = this;
    const {key} = list.lifted;
    const count = list.items.length;
    const to = list.geometry.neighbour(list.indexOf(key), event.key, count);
    if (to !== undefined) {
      this.to(to);
      list.show(to);
      say(`Place ${to + 1} of ${count}`);
    } else if (event.key === " " || event.key === "Enter") {
      const place = this.end(true);
      say(`${this.name(key)} dropped at place ${place + 1} of ${count}`);
    } else if (event.key === "Escape" || event.key === "Tab") {
      this.end(false);
      say("Move cancelled");
      if (event.key === "Tab") return false;
    } else {
      return false;
    }
    return true;
  }
}
