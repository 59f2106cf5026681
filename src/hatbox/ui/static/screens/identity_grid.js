// The cards or rows of the Identities screen: a virtual list with a menu, keys and moving.

import {say} from "../dom.js";
import * as actions from "../identity_actions.js";
import {identities} from "../identities_state.js";
import {cardSignature, createCard, updateCard} from "../identity_card.js";
import {menu} from "../layers.js";
import {isPhone} from "../phone.js";
import {Reorder} from "../reorder.js";
import {VirtualList} from "../virtual_list.js";

const CARD = {minWidth: 264, height: 102, gap: 12};
const ROW = {minWidth: 0, height: 44, gap: 0};
const PHONE_ROW = {minWidth: 0, height: 56, gap: 0};
const FRESH_TIME = 1600; // ms, as long as the animation

export class IdentityGrid extends VirtualList {
  // opened(id): called when the link of a card is followed.
  constructor(scroller, {opened}) {
    super(scroller, {
      label: "Identities",
      key: (identity) => identity.cookieStoreId,
      create: () => createCard(this.view),
      update: (card, identity) => updateCard(card, identity, this.view, this.isMovable),
      signature: (identity) => cardSignature(identity, this.isMovable),
      size: () => (this.view === "cards" ? CARD : isPhone() ? PHONE_ROW : ROW),
    });
    this.view = "cards";
    this.isMovable = true;
    this.reorder = new Reorder(this, {
      name: (id) => identities.get(id)?.name ?? "Identity",
      drop: (id, _, to) => this.move(id, to),
    });
    this.onPart("click", "link", opened);
    this.onPart("click", "menu", (id, anchor) => this.openMenu(id, anchor));
    this.onPart("pointerdown", "grip", (id, _, event) => this.reorder.startWithPointer(event, id));
    this.host.addEventListener("contextmenu", (event) => this.onContextMenu(event));
    this.host.addEventListener("keydown", (event) => this.onKey(event));
    this.host.addEventListener("focusout", (event) => this.reorder.focusOut(event));
  }

  destroy() {
    if (this.reorder.isActive) this.reorder.cancel();
    super.destroy();
  }

  setView(view) {
    if (view === this.view) return;
    this.view = view;
    this.host.classList.toggle("rows", view === "rows");
    this.reset();
  }

  // change: what identities.onChange reports. Moving is possible only while everything is shown in the user's order.
  set(items, isMovable = this.isMovable, change = null) {
    if (change && this.reorder.isActive) items = this.reorder.accept(items);
    const before = change && new Map(this.items.map((item) => [item.cookieStoreId, item]));
    this.isMovable = isMovable;
    super.set(items);
    if (change && !(change.all && before.size === 0)) this.markFresh(change, before); // not at the first load
  }

  // A ring around cards that are new, or that another program renamed, recolored, hid or showed.
  markFresh({changed, created, all}, before) {
    for (const [id, card] of this.cells) {
      const [old, now] = [before.get(id), identities.get(id)];
      const isNew = created?.has(id);
      const isOther = old && (changed?.has(id) || all) && face(old) !== face(now);
      if (isNew || isOther) ring(card);
    }
  }

  // Calls run(id, part, event) for events of this part of a card.
  onPart(type, name, run) {
    this.host.addEventListener(type, (event) => {
      const part = event.target.closest(`[data-part=${name}]`);
      if (part) run(this.keyOf(part), part, event);
    });
  }

  onContextMenu(event) {
    const id = this.keyOf(event.target);
    if (id === undefined) return;
    event.preventDefault();
    this.openMenu(id, this.cell(id).querySelector("[data-part=menu]"));
  }

  openMenu(id, anchor) {
    const identity = identities.get(id);
    if (identity) menu(anchor, actions.actionsOf(identity, anchor), `Actions for ${identity.name}`);
  }

  // --- focus

  // Shows and focuses the card of an identity that was just created.
  reveal(id) {
    this.focusKey(id);
  }

  focusKey(id, part) {
    const index = this.indexOf(id);
    if (index >= 0) this.focus(index, part);
  }

  // --- keys

  onKey(event) {
    const id = this.keyOf(event.target);
    if (id === undefined) return;
    if (this.reorder.isActive) {
      if (!this.lifted.at && this.reorder.key(event)) stop(event);
      return;
    }
    if (this.liftKey(event, id) || this.moveKey(event, id) || this.focusMoved(event, id) || this.command(event, id)) {
      stop(event);
    }
  }

  liftKey(event, id) {
    if (event.target.dataset.part !== "grip" || (event.key !== " " && event.key !== "Enter")) return false;
    this.reorder.lift(id);
    return true;
  }

  moveKey(event, id) {
    if (!event.altKey) return false;
    const to = this.geometry.neighbour(this.indexOf(id), event.key, this.items.length);
    if (to === undefined) return false;
    if (!this.isMovable) {
      say("Clear the search to move it."); // the key is taken: Alt and Left would leave the page
      return true;
    }
    this.move(id, to);
    this.show(to);
    say(`${identities.get(id).name}, place ${to + 1} of ${this.items.length}`);
    return true;
  }

  focusMoved(event, id) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
    const to = this.geometry.neighbour(this.indexOf(id), event.key, this.items.length);
    if (to === undefined) return false;
    this.focus(to);
    return true;
  }

  command(event, id) {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.key) return false;
    const identity = identities.get(id);
    const anchor = this.cell(id).querySelector("[data-part=menu]");
    const run = {
      h: () => actions.setHidden(identity, !identity.hidden, anchor),
      e: () => actions.editIdentity(identity, anchor),
      o: () => actions.openWindow(identity, anchor),
      delete: () => actions.removeIdentity(identity, anchor), // its neighbour then gets the focus
    }[event.key.toLowerCase()];
    if (run && !event.repeat) run();
    return run !== undefined;
  }

  move(id, to) {
    const anchor = this.cell(id)?.querySelector("[data-part=grip]");
    return actions.moveIdentity(identities.get(id), to, anchor);
  }
}

function face({name, color, icon, hidden}) {
  return JSON.stringify([name, color, icon, hidden]);
}

function ring(card) {
  card.classList.remove("is-fresh");
  card.getBoundingClientRect(); // restarts the animation
  card.classList.add("is-fresh");
  setTimeout(() => card.classList.remove("is-fresh"), FRESH_TIME);
}

function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}
