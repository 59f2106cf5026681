// The field that opens an address in an identity. It says before Enter where the address opens.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h} from "./dom.js";
import {engineStarted, lostTabText} from "./engines_state.js";
import {identities} from "./identities_state.js";
import {problem, toast} from "./layers.js";
import {rules} from "./rules_state.js";
import {sentence} from "./sentences.js";
import {hostOf} from "./tab_order.js";
import {undoable} from "./undo.js";
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
    const label = sentence`Open an address as ${this.name()}`;
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
      onkeydown: (event) => event.key === "Enter" && event.repeat && event.preventDefault(),
    });
    this.below = h("div", {id: "open-address-below", class: "below", "aria-live": "polite"});
    const onclick = (event) => event.detail > 1 && event.preventDefault(); // the second of a double click
    this.button = h("button", {class: "btn", type: "submit", onclick}, "Open");
    const bar = h("div", {class: "addbar"}, this.input, this.button);
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

  fail(message, address) {
    const whole = sentence`${address} was not opened. ${message}`;
    if (!this.el.isConnected) return problem(null, whole);
    const isInField = this.isInField(address); // else the next one is being typed
    this.show(errorLine(isInField ? message : whole));
    if (!isInField) return;
    this.asked += 1;
    this.input.setAttribute("aria-invalid", "true");
    if (this.el.contains(document.activeElement)) this.input.focus();
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
    const button = (label, id, kind) => {
      const el = btn(label, () => this.once(address, el, () => this.open(id, address)), {kind});
      return el;
    };
    const choices = to.map((id) => button(sentence`Open in ${this.name(id)}`, id, "sm"));
    const here = !isLimited && button(sentence`Open as ${this.name()} anyway`, this.id, "sm quiet");
    const buttons = h("div", {class: "line wrap choices"}, choices, here);
    if (buttons.hasChildNodes()) box.querySelector(".grow").append(buttons);
    return box;
  }

  // Tests the address, and opens it where it belongs.
  submit() {
    const address = this.input.value.trim();
    clearTimeout(this.timer);
    this.asked += 1;
    return this.once(address, this.button, async () => {
      const verdict = await api.rules.test(address, this.id);
      if (verdict.outcome === "blocked") throw new Error(`${verdict.title}. ${verdict.notes.join(" ")}`);
      if (verdict.outcome === "asks") this.letChoose(verdict, address);
      else await this.open(verdict.identities[0] ?? this.id, address);
    });
  }

  letChoose(verdict, address) {
    if (!this.isInField(address)) return; // the next one is being typed
    this.asked += 1;
    const box = this.verdict(verdict, address);
    this.show(box);
    box.querySelector("button").focus();
  }

  // One address at a time: after a second click, or a second Enter without a connection, it would be open twice.
  once(address, control, change) {
    const onError = (error) => this.fail(error.message, address);
    return attempt(this.input, change, {control, key: `address ${this.id}`, onError});
  }

  isInField(address) {
    return this.input.value.trim() === address;
  }

  // Resolves when the tab exists. Its engine may start afterwards.
  async open(id, address) {
    const opening = this.send(id, address);
    undoable((done) => this.report(opening, id, address, done)).catch((error) => {
      if (!this.input.value) this.input.value = address; // nothing that was typed is lost
      this.fail(error.message, address);
    });
    await opening;
  }

  async send(id, address) {
    const opened = await resultOf(api.tabs.open(id, address));
    if (!opened) toast(lostTabText(this.name(id)));
    if (this.isInField(address)) {
      this.asked += 1;
      this.input.value = "";
      this.show();
    }
    return opened;
  }

  // Says that a tab is open, when it is shown. The error of one that is not open stands at the field already.
  async report(opening, id, address, done) {
    const opened = await opening.catch(() => null);
    if (!opened) return;
    const {tab, engine} = opened;
    if (engine === "starting") await this.waitForEngine(tab, address);
    done(sentence`Opened ${hostOf(tab.url) || "the start page"} as ${this.name(id)}.`, () => api.tabs.close(tab.id));
  }

  async waitForEngine(tab, address) {
    const waiting = h("p", {class: "line muted", role: "status"}, h("span", {class: "spin", "aria-hidden": "true"}));
    waiting.append(`Starting an engine, which opens ${address}. It can take some seconds.`);
    if (!this.input.value) this.show(waiting);
    await engineStarted({tabId: tab.id});
    if (this.below.contains(waiting)) this.show();
  }
}
