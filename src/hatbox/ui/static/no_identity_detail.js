// The cookies of pages without an identity, in place of the detail of an identity.

import {h, icon} from "./dom.js";
import {mount} from "./identity_tabs/cookies.js";
import {NO_IDENTITY} from "./no_identity.js";
import {setTitle} from "./router.js";

export class NoIdentityDetail {
  constructor() {
    this.id = NO_IDENTITY.cookieStoreId;
    const back = h("a", {class: "icon-btn only-narrow", href: "#/sites", "aria-label": "Back to sites"}, icon("ui-left"));
    const sub = h("span", {class: "sub"}, "Cookies of pages and requests without an identity");
    const head = h("div", {class: "head"}, back, h("h1", {}, NO_IDENTITY.name), sub);
    const inside = h("div");
    this.el = h("section", {class: "fill", "aria-label": NO_IDENTITY.name}, head, h("div", {class: "scroll"}, inside));
    this.mounted = mount(inside, this.id);
  }

  update() {
    setTitle(NO_IDENTITY.name);
  }

  select() {}

  unmount() {
    this.mounted.unmount();
  }
}
