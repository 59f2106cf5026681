// The settings of one identity: proxy, user agent, locale and time zone. What is typed stays until it is saved or
// discarded, also when another tab or screen is shown meanwhile.

import {browser} from "../api.js";
import {resultOf} from "../attempt.js";
import {btn, errorLine, h, isUnavailable, setUnavailable} from "../dom.js";
import {identities} from "../identities_state.js";
import {detailsOf} from "../identity_details.js";
import {dialog, toast} from "../layers.js";
import {loadError, skeletonAfter} from "../screen_parts.js";
import {settingDrafts} from "../setting_drafts.js";
import {riskText, settingProblem} from "../setting_words.js";
import {changed} from "../undo.js";

const api = browser.hatbox.identities;
const FIELDS = [
  {
    name: "proxy",
    label: "Proxy",
    hint: "http://, https:// or socks5://, or direct",
    note: "While the proxy does not answer, this identity sends nothing.",
  },
  {name: "userAgent", label: "User agent", hint: "The browser's own"},
  {name: "locale", label: "Locale", hint: "The system's language"},
  {name: "timezone", label: "Time zone", hint: "The system's time zone"},
];
const MASK = ":***@"; // in place of a password that the page never gets

export function mount(root, cookieStoreId) {
  const form = new SettingsForm(cookieStoreId);
  root.append(form.el);
  form.showName();
  const stop = [form.details.follow(() => form.load()), identities.onChange(() => form.showName())];
  form.load();
  stop.push(skeletonAfter(form.message, "Loading settings", () => form.stored || form.details.error));
  return {
    unmount() {
      for (const each of stop) each();
      form.keepDraft();
    },
  };
}

class SettingsForm {
  constructor(id) {
    this.id = id;
    this.details = detailsOf(id);
    this.stored = null; // as the server has them; null until they are known
    this.intro = h("p", {class: "muted measure"});
    this.message = h("div", {});
    this.inputs = new Map(FIELDS.map((field) => [field.name, this.makeInput(field)]));
    this.errors = new Map(FIELDS.map(({name}) => [name, h("div", {id: `set-${name}-error`})]));
    this.save = h("button", {class: "btn primary", type: "submit"}, "Save settings");
    this.discard = btn("Discard", () => this.reset(), {kind: "quiet"});
    for (const control of [this.save, this.discard]) setUnavailable(control, true);
    const form = h("form", {class: "form", novalidate: true, onsubmit: (event) => this.onSubmit(event)});
    const actions = h("div", {class: "actions"}, this.save, this.discard);
    this.rows = h("div", {class: "contents", hidden: true}, FIELDS.map((field) => this.makeRow(field)), actions);
    form.append(this.rows, this.message);
    this.el = h("div", {class: "panel"}, this.intro, form);
  }

  makeInput({name, hint}) {
    return h("input", {
      class: "field",
      id: `set-${name}`,
      placeholder: hint,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      "aria-describedby": `set-${name}-error`,
      oninput: () => this.onInput(name),
      onblur: () => this.check([name]),
    });
  }

  makeRow({name, label, note}) {
    const value = h("div", {}, this.inputs.get(name), this.errors.get(name), note && h("p", {class: "note"}, note));
    return h("div", {class: "f"}, h("label", {for: `set-${name}`}, label), value);
  }

  showName() {
    const name = identities.get(this.id)?.name;
    if (name) this.intro.textContent = `Every client and engine uses these for ${name}. An empty field is not set.`;
  }

  // Shows what is stored. A field that was changed here keeps its text.
  load() {
    const {loaded, value, error} = this.details;
    if (loaded && value) {
      const isFirst = !this.stored;
      this.show(value.settings, isFirst ? (settingDrafts.get(this.id) ?? {}) : this.dirtyValues());
      if (value.settingsError) this.message.replaceChildren(errorLine(value.settingsError));
      else if (isFirst) this.message.replaceChildren();
      this.rows.hidden = false;
    } else if (error && !this.stored) {
      this.message.replaceChildren(loadError(error, () => this.details.reload()));
    }
  }

  show(settings, kept = {}) {
    this.stored = settings;
    for (const [name, input] of this.inputs) {
      const text = kept[name] ?? settings[name] ?? "";
      if (input.value !== text) input.value = text;
    }
    this.showState();
  }

  keepDraft() {
    const dirty = this.stored ? this.dirtyValues() : {};
    if (Object.keys(dirty).length) settingDrafts.set(this.id, dirty);
    else settingDrafts.delete(this.id);
  }

  dirtyValues() {
    const entries = [...this.inputs].map(([name, input]) => [name, input.value]);
    return Object.fromEntries(entries.filter(([name, value]) => value.trim() !== (this.stored[name] ?? "")));
  }

  showState() {
    const isDirty = Object.keys(this.dirtyValues()).length > 0;
    for (const control of [this.save, this.discard]) setUnavailable(control, !isDirty);
  }

  onInput(name) {
    this.showError(name, null);
    if (this.stored) this.showState();
  }

  showError(name, text) {
    const input = this.inputs.get(name);
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    this.errors.get(name).replaceChildren(...(text ? [errorLine(text)] : []));
  }

  reset() {
    for (const {name} of FIELDS) this.showError(name, null);
    this.message.replaceChildren();
    this.show(this.stored);
    this.inputs.get("proxy").focus();
  }

  // Checks those of these fields that were changed. Resolves with the names of the wrong ones.
  async check(names) {
    if (!this.stored) return [];
    const dirty = this.dirtyValues();
    const values = valuesOf(dirty, names);
    if (!Object.keys(values).length) return [];
    let problems;
    try {
      problems = await api.checkSettings(values);
    } catch (error) {
      problems = Object.fromEntries(Object.keys(values).map((name) => [name, error.message]));
    }
    for (const name of Object.keys(values)) {
      if (this.inputs.get(name).value !== dirty[name]) continue; // it was changed meanwhile
      const problem = problems[name];
      this.showError(name, problem ? settingProblem(name, values[name], problem) : null);
    }
    return Object.keys(problems);
  }

  async onSubmit(event) {
    event.preventDefault();
    if (isUnavailable(this.save)) return;
    this.message.replaceChildren();
    const names = FIELDS.map(({name}) => name);
    setUnavailable(this.save, true);
    try {
      const wrong = await this.check(names);
      if (wrong.length) this.inputs.get(names.find((name) => wrong.includes(name))).focus();
      else await this.send(valuesOf(this.dirtyValues(), names), false);
    } catch (error) {
      this.message.replaceChildren(errorLine(error.message));
    } finally {
      this.showState();
    }
  }

  async send(values, force) {
    const before = Object.fromEntries(Object.keys(values).map((name) => [name, this.stored[name]]));
    const result = await resultOf(api.setSettings(this.id, values, force));
    if (result && !result.saved) return this.askFirst(values, result.inputAtRisk);
    settingDrafts.delete(this.id);
    const settings = result?.settings ?? (await api.details(this.id)).settings;
    this.show(settings);
    this.details.saved(settings);
    const text = `Settings of ${identities.get(this.id)?.name ?? "this identity"} saved. New requests use them now.`;
    if (before.proxy?.includes(MASK)) toast(text); // its password is not known here
    else changed(text, () => this.restore(before));
  }

  // Undo never loses what was typed meanwhile.
  async restore(before) {
    const {saved, inputAtRisk} = await api.setSettings(this.id, before, false);
    if (saved) return;
    const name = identities.get(this.id)?.name ?? "this identity";
    const count = inputAtRisk.length === 1 ? "a page" : `${inputAtRisk.length} pages`;
    throw new Error(`Text that was typed in ${count} of ${name} would be lost. Save the old settings in Settings.`);
  }

  async askFirst(values, inputAtRisk) {
    const tabs = await browser.hatbox.tabs.list({cookieStoreId: this.id}).catch(() => []);
    const titleOf = (id) => tabs.find((tab) => tab.id === id)?.title;
    const lines = inputAtRisk.map((each) => h("li", {}, riskText(each, titleOf)));
    const text = "New settings reload its pages. Text that was typed there and not sent is lost:";
    const body = h("div", {class: "dlg-text"}, h("p", {}, text), h("ul", {class: "plain-list"}, lines));
    const name = identities.get(this.id)?.name ?? "this identity";
    dialog(`Save, and lose what was typed in ${name}?`, body, (close) => [
      btn("Keep the text", close, {kind: "quiet"}),
      btn("Save settings", () => this.force(values, close), {kind: "danger solid"}),
    ]);
  }

  async force(values, close) {
    close();
    try {
      await this.send(values, true);
    } catch (error) {
      this.message.replaceChildren(errorLine(error.message));
    }
  }
}

// What is sent: an empty text unsets a setting.
function valuesOf(dirty, names) {
  const entries = Object.entries(dirty).filter(([name]) => names.includes(name));
  return Object.fromEntries(entries.map(([name, text]) => [name, text.trim() || null]));
}
