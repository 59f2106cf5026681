// The head of the detail of one identity: its face, where it is signed in, what can be done. Updated in place, so that
// a change by another program moves no focus.

import {btn, h, icon, iconButton, plural, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {actionsOf, editIdentity, openWindow, removeIdentity, setHidden} from "./identity_actions.js";
import {menu} from "./layers.js";
import {currentRoute, go} from "./router.js";
import {exactTime, fullDate} from "./times.js";

export class IdentityHeader {
  // details: those of the identity, see identity_details.js.
  constructor(id, details) {
    this.id = id;
    this.details = details;
    this.isLeaving = false; // while the user removes it: what is shown stays until the other screen comes
    this.face = tile({color: "gray", icon: "circle"}, "t48", "button", {type: "button", onclick: () => this.edit()});
    this.face.title = "Edit name, color, icon";
    this.name = h("h1", {dir: "auto"});
    this.meta = h("div", {class: "meta"});
    this.open = btn("Open window", () => openWindow(this.identity, this.open), {kind: "primary", lead: "ui-window"});
    this.toggle = btn("Hide", () => setHidden(this.identity, !this.identity.hidden, this.toggle));
    this.more = iconButton("ui-dots", "More actions", () => this.showMenu(), {"aria-haspopup": "menu"});
    const back = h("a", {class: "icon-btn only-narrow", href: "#/identities", "aria-label": "Back to identities"});
    back.append(icon("ui-left"));
    const acts = h("div", {class: "acts line"}, this.open, this.toggle, this.more);
    const text = h("div", {class: "grow"}, this.name, this.meta);
    this.el = h("div", {class: "detail-head"}, back, this.face, text, acts);
  }

  get identity() {
    return identities.get(this.id);
  }

  edit() {
    editIdentity(this.identity, this.face);
  }

  showMenu() {
    const {identity, more} = this;
    const items = actionsOf(identity, more).map((item) => {
      if (item === "-") return item;
      const {key: _, ...here} = item; // the letters work on cards
      if (item.label === "Edit name, color, icon") return {...here, run: () => this.edit()};
      return item.danger ? {...here, run: () => this.remove()} : here;
    });
    menu(more, items, `Actions for ${identity.name}`);
  }

  // The removed identity has nothing more to show. It is left when it disappears, unless the user is elsewhere by then.
  async remove() {
    const {id} = this;
    const leave = () => {
      const {name, id: shown} = currentRoute();
      if (this.isLeaving && !identities.get(id) && name === "identity" && shown === id) go("#/identities");
    };
    this.isLeaving = true;
    const stop = identities.onChange(leave);
    await removeIdentity(this.identity, this.more);
    stop();
    this.isLeaving = false;
  }

  update() {
    const {identity} = this;
    const {created, temporary} = this.details.value ?? {};
    const drawn = JSON.stringify([identity, created, temporary]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const {name, color, hidden} = identity;
    this.name.textContent = name;
    this.face.dataset.color = color;
    this.face.classList.toggle("is-hidden", hidden);
    this.face.replaceChildren(icon(`id-${identity.icon}`));
    this.face.setAttribute("aria-label", `Edit name, color and icon of ${name}`);
    this.open.hidden = hidden;
    this.toggle.className = hidden ? "btn primary" : "btn";
    this.toggle.replaceChildren(icon(hidden ? "ui-eye" : "ui-eye-off"), hidden ? "Show" : "Hide");
    this.meta.replaceChildren(...metaOf(identity, created, temporary));
  }
}

function metaOf({cookieStoreId, hidden, signedIn}, created, temporary) {
  const where = signedIn ? `Signed in on ${plural(signedIn, "site")}` : "Signed in nowhere";
  return [
    hidden && h("span", {class: "line"}, icon("ui-eye-off"), "Hidden"),
    h("span", {}, where),
    temporary && h("span", {}, "Temporary: it is deleted with its last tab"),
    created && h("span", {class: "hide-narrow", title: exactTime(created)}, `Created ${fullDate(created)}`),
    h("code", {class: "hide-narrow"}, cookieStoreId),
  ].filter(Boolean);
}
