// The field that opens an address in an identity. It says before Enter where the address opens.

import {browser} from "./api.js";
import {resultOf} from "./attempt.js";
import {btn, errorLine, h} from "./dom.js";
import {engineStarted, lostTabText} from "./engines_state.js";
import {identities} from "./identities_state.js";
import {toast} from "./layers.js";
import {rules} from "./rules_state.js";
import {hostOf} from "./tab_order.js";
import {changed} from "./undo.js";
import {verdictBox} from "./verdict.js";

const api = browser.hatbox;
const PAUSE = 120; // ms after the last key

// An element with destroy().
export function addressForm(cookieStoreId) {
  const form = new AddressForm(cookieStoreId);
  return form;
}

class AddressForm {
  constructor(cookieStoreId) {
    this.id = cookieStoreId;
    this.asked = 0; // tests that were sent: only the answer to the newest is shown
    const label = `Open an address as ${this.name()}`;
    this.input = h("input", {
      class: "field",
      id: "open-address",
      placeholder: label,
      "aria-label": label,
      "aria-describedby": "open-address-below",
      inputmode: "url",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      maxlength: 65536,
      oninput: () => this.onInput(),
    });
    this.below = h("div", {id: "open-address-below", class: "below", "aria-live": "polite"});
    const bar = h("div", {class: "addbar"}, this.input, h("button", {class: "btn", type: "submit"}, "Open"));
    const onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    this.el = h("form", {novalidate: true, onsubmit}, bar, this.below);
    this.stop = rules.onChange(() => this.test()); // a rule may be added while an address is typed
  }

  destroy() {
    clearTimeout(this.timer);
    this.asked += 1;
    this.stop();
  }

  name(id = this.id) {
    return identities.get(id)?.name ?? "this identity";
  }

  onInput() {
    this.input.removeAttribute("aria-invalid");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.test(), PAUSE);
  }

  show(...nodes) {
    this.below.replaceChildren(...nodes.filter(Boolean));
  }

  fail(message) {
    this.show(errorLine(message));
    this.input.setAttribute("aria-invalid", "true");
    this.input.focus();
  }

  // Shows where the address opens. What is not an address yet is no error while it is typed.
  async test() {
    const own = ++this.asked;
    const address = this.input.value.trim();
    if (!address) {
      if (!this.input.hasAttribute("aria-invalid")) this.show();
      return;
    }
    const verdict = await api.rules.test(address, this.id).catch(() => null);
    if (own === this.asked) this.show(verdict && this.verdict(verdict, address));
  }

  verdict(verdict, address) {
    const box = verdictBox(verdict, this.id);
    const {outcome, identities: ids, isLimited} = verdict;
    const isElsewhere = outcome === "asks" || (ids.length > 0 && !ids.includes(this.id));
    if (!isElsewhere) return box;
    const to = outcome === "asks" ? ids : [];
    const choices = to.map((id) => btn(`Open in ${this.name(id)}`, () => this.open(id, address), {kind: "sm"}));
    const label = `Open as ${this.name()} anyway`;
    const here = !isLimited && btn(label, () => this.open(this.id, address), {kind: "sm quiet"});
    const buttons = h("div", {class: "line wrap choices"}, choices, here);
    if (buttons.hasChildNodes()) box.querySelector(".grow").append(buttons);
    return box;
  }

  async submit() {
    const own = ++this.asked;
    clearTimeout(this.timer);
    const address = this.input.value.trim();
    try {
      const verdict = await api.rules.test(address, this.id);
      if (own !== this.asked) return;
      if (verdict.outcome === "blocked") return this.fail(`${verdict.title}. ${verdict.notes.join(" ")}`);
      if (verdict.outcome !== "asks") return await this.open(verdict.identities[0] ?? this.id, address);
      const box = this.verdict(verdict, address);
      this.show(box);
      box.querySelector("button").focus();
    } catch (error) {
      if (own === this.asked) this.fail(error.message);
    }
  }

  async open(id, address) {
    this.asked += 1;
    try {
      const opened = await resultOf(api.tabs.open(id, address));
      this.input.value = "";
      this.show();
      if (!opened) return toast(lostTabText(this.name(id)));
      const {tab, engine} = opened;
      if (engine === "starting") await this.waitForEngine(tab, address);
      changed(`Opened ${hostOf(tab.url) || "the start page"} as ${this.name(id)}.`, () => api.tabs.close(tab.id));
    } catch (error) {
      if (!this.input.value) this.input.value = address; // nothing that was typed is lost
      this.fail(error.message);
    }
  }

  async waitForEngine(tab, address) {
    const waiting = h("p", {class: "line muted", role: "status"}, h("span", {class: "spin", "aria-hidden": "true"}));
    waiting.append(`Starting an engine, which opens ${address}. It can take some seconds.`);
    this.show(waiting);
    await engineStarted({tabId: tab.id});
    if (this.below.contains(waiting)) this.show();
  }
}
