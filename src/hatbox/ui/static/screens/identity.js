// One identity: its tabs, cookies, rules and settings, and beside it, where the window is wide, all identities.

import {empty, h} from "../dom.js";
import {identities} from "../identities_state.js";
import {detailsOf} from "../identity_details.js";
import {IdentityHeader} from "../identity_header.js";
import {PeerList} from "../identity_peers.js";
import {NO_IDENTITY, ownerOf} from "../no_identity.js";
import {NoIdentityDetail} from "../no_identity_detail.js";
import {thousands} from "../numbers.js";
import {go, setTitle} from "../router.js";
import {loadError} from "../screen_parts.js";
import {settingDrafts} from "../setting_drafts.js";

export const title = "Identity";

const TABS = [
  ["tabs", "Tabs"],
  ["cookies", "Cookies"],
  ["rules", "Rules"],
  ["settings", "Settings"],
];
const NAMES = TABS.map(([name]) => name);

export function mount(root, route) {
  const screen = new IdentityScreen();
  root.append(screen.el);
  screen.update(route);
  return screen;
}

class IdentityScreen {
  constructor() {
    this.id = null;
    this.tab = "";
    this.peers = new PeerList();
    this.place = h("div", {class: "fill"});
    this.el = h("div", {class: "split fill"}, this.peers.el, this.place);
    this.stop = identities.onChange((change) => this.onChange(change));
  }

  // Called by the router when only the identity or its tab is another one.
  update({id, tab}) {
    const isNew = id !== this.id;
    this.id = id;
    this.tab = NAMES.includes(tab) ? tab : "tabs";
    this.peers.select(id, this.tab, {isNew});
    if (isNew) this.showIdentity();
    else this.detail?.select(this.tab);
    return true;
  }

  onChange({changed, all}) {
    this.peers.update();
    if (all || changed.has(this.id)) this.showIdentity();
  }

  // Draws what the place shows now: the identity, or why it does not.
  showIdentity() {
    const identity = ownerOf(this.id);
    if (identity && this.detail?.id === this.id) {
      this.detail.update();
      return;
    }
    if (!identity && this.detail?.isLeaving && this.detail.id === this.id) return;
    this.detail?.unmount();
    this.detail = null;
    if (identity) this.showDetail();
    else if (identities.error) this.showOther(title, loadError(identities.error, () => identities.load()));
    else if (identities.loaded) this.showGone();
    else this.showOther(title);
  }

  showDetail() {
    this.detail = this.id === NO_IDENTITY.cookieStoreId ? new NoIdentityDetail() : new Detail(this.id);
    this.place.replaceChildren(this.detail.el);
    this.detail.update();
    this.detail.select(this.tab);
  }

  showGone() {
    setTitle("This identity is gone");
    const lost = " What you typed in Settings was not saved. It is there again when the identity is restored.";
    const draft = settingDrafts.has(this.id) ? lost : "";
    const text = `It was removed, here or by another program. It may be in the trash.${draft}`;
    const link = h("a", {class: "btn", href: "#/trash"}, "Look in the trash");
    this.place.replaceChildren(scroll(empty("ui-trash", "This identity is gone", text, link, "h1")));
  }

  // Every screen has a heading, also one without an identity.
  showOther(heading, content) {
    this.place.replaceChildren(h("h1", {class: "vh"}, heading), scroll(content));
  }

  unmount() {
    this.stop();
    this.peers.destroy();
    this.detail?.unmount();
  }
}

function scroll(content = null) {
  return h("div", {class: "scroll"}, content);
}

class Detail {
  constructor(id) {
    this.id = id;
    this.tab = "";
    this.opened = 0; // counts, so that a tab that is loaded too late is not shown
    this.details = detailsOf(id);
    this.header = new IdentityHeader(id, this.details);
    this.bar = h("div", {class: "tabbar", role: "tablist", onkeydown: (event) => this.onKey(event)});
    this.buttons = new Map(TABS.map(([name, label]) => [name, this.makeButton(name, label)]));
    this.bar.append(...[...this.buttons.values()].map(({button}) => button));
    this.panel = h("div", {class: "scroll", id: "panel", role: "tabpanel", tabindex: "-1"});
    this.el = h("section", {class: "detail fill"}, this.header.el, this.bar, this.panel);
    this.stop = this.details.follow(() => {
      if (!identities.get(id)) return;
      this.header.update();
      this.showNumbers();
    });
  }

  get isLeaving() {
    return this.header.isLeaving;
  }

  makeButton(name, label) {
    const number = h("span", {class: "num"});
    const onclick = () => go(this.address(name));
    const props = {role: "tab", type: "button", id: `tab-${name}`, "aria-controls": "panel", onclick};
    return {button: h("button", props, label, number), number};
  }

  address(tab) {
    return `#/identity/${encodeURIComponent(this.id)}/${tab}`;
  }

  onKey(event) {
    const at = NAMES.indexOf(this.tab);
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1}[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(this.address(NAMES.at(to % NAMES.length)));
  }

  update() {
    const identity = identities.get(this.id);
    setTitle(identity.name);
    this.el.dataset.color = identity.color;
    this.el.setAttribute("aria-label", identity.name);
    this.bar.setAttribute("aria-label", identity.name);
    this.header.update();
    this.showNumbers();
  }

  showNumbers() {
    const {tabs, cookies, rules} = identities.get(this.id);
    for (const [name, count] of Object.entries({tabs, cookies, rules, settings: this.countSettings()})) {
      this.buttons.get(name).number.textContent = count ? thousands(count) : "";
    }
  }

  countSettings() {
    return Object.values(this.details.value?.settings ?? {}).filter((value) => value !== null).length;
  }

  // Shows a tab. Its button gets the focus if another one had it.
  async select(name) {
    if (name === this.tab) return;
    this.tab = name;
    const hadFocus = this.bar.contains(document.activeElement);
    for (const [other, {button}] of this.buttons) {
      button.setAttribute("aria-selected", String(other === name));
      button.tabIndex = other === name ? 0 : -1;
    }
    const {button} = this.buttons.get(name);
    if (hadFocus) button.focus();
    this.panel.setAttribute("aria-labelledby", button.id);
    const own = ++this.opened;
    this.closeTab();
    const module = await load(name);
    if (own !== this.opened) return;
    const inside = h("div", {});
    this.panel.replaceChildren(inside);
    this.panel.scrollTop = 0;
    if (module) this.mounted = module.mount(inside, this.id);
    else inside.append(loadError("This part of the page could not be loaded.", () => location.reload()));
  }

  closeTab() {
    this.mounted?.unmount();
    this.mounted = null;
    this.panel.replaceChildren();
  }

  unmount() {
    this.stop();
    this.opened += 1;
    this.closeTab();
  }
}

async function load(name) {
  try {
    return await import(`../identity_tabs/${name}.js`);
  } catch (error) {
    console.error(error);
    return null;
  }
}
