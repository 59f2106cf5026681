// The settings of one identity: proxy, user agent, locale and time zone, and whether its activity is recorded. What is
// typed stays until it is saved or discarded, also when another tab or screen is shown meanwhile.

import {browser} from "../api.js";
import {attempt, resultOf} from "../attempt.js";
import {btn, errorLine, h, isUnavailable, setUnavailable} from "../dom.js";
import {identities} from "../identities_state.js";
import {detailsOf} from "../identity_details.js";
import {dialog, problem, toast} from "../layers.js";
import {loadError, skeletonAfter} from "../screen_parts.js";
import {sentence} from "../sentences.js";
import {settingDrafts} from "../setting_drafts.js";
import {riskText, settingProblem} from "../setting_words.js";
import {undoable} from "../undo.js";

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
    this.isSaving = false;
    this.intro = h("p", {class: "muted measure"});
    this.message = h("div", {});
    this.inputs = new Map(FIELDS.map((field) => [field.name, this.makeInput(field)]));
    this.errors = new Map(FIELDS.map(({name}) => [name, h("div", {id: `set-${name}-error`})]));
    this.save = h("button", {class: "btn primary", type: "submit"}, "Save settings");
    this.discard = btn("Discard", () => this.reset(), {kind: "quiet"});
    for (const control of [this.save, this.discard]) setUnavailable(control, true);
    const form = h("form", {class: "form", novalidate: true, onsubmit: (event) => this.onSubmit(event)});
    const actions = h("div", {class: "actions"}, this.save, this.discard);
    this.rows = h("div", {class: "contents", hidden: true});
    this.rows.append(...FIELDS.map((field) => this.makeRow(field)), actions, this.makeRecording());
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
      onblur: () => this.onBlur(name),
    });
  }

  makeRow({name, label, note}) {
    const value = h("div", {}, this.inputs.get(name), this.errors.get(name), note && h("p", {class: "note"}, note));
    return h("div", {class: "f"}, h("label", {for: `set-${name}`}, label), value);
  }

  // Applied at once, unlike the fields above.
  makeRecording() {
    const onchange = () => this.setRecorded(this.recording.checked);
    const props = {type: "checkbox", class: "switch", role: "switch", id: "set-recorded", onchange};
    this.recording = h("input", {...props, "aria-describedby": "set-recorded-note"});
    const text = "What programs do as this identity is in Activity for 30 days: actions and hosts, no contents. What " +
      "programs with a grant do is there anyway.";
    const value = h("div", {class: "recording"}, this.recording, h("p", {class: "note", id: "set-recorded-note"}, text));
    return h("div", {class: "f"}, h("label", {for: "set-recorded"}, "Record activity"), value);
  }

  setRecorded(recorded) {
    const change = async (done) => {
      await resultOf(api.setRecorded(this.id, recorded));
      const text = `The activity of ${this.name()} is ${recorded ? "recorded now" : "not recorded any more"}.`;
      done(text, () => api.setRecorded(this.id, !recorded));
    };
    const onError = (error) => {
      this.recording.checked = !recorded;
      this.onError(error);
    };
    return attempt(this.recording, () => undoable(change), {key: `recorded ${this.id}`, onError});
  }

  name() {
    return identities.get(this.id)?.name ?? "this identity";
  }

  showName() {
    const name = identities.get(this.id)?.name;
    const text = sentence`Every client and engine uses these for ${name}.`;
    if (name) this.intro.textContent = `${text} An empty field is not set.`;
  }

  // Shows what is stored. A field that was changed here keeps its text.
  load() {
    const {loaded, value, error} = this.details;
    if (loaded && value) {
      const isFirst = !this.stored;
      this.show(value.settings, isFirst ? (settingDrafts.get(this.id) ?? {}) : this.dirtyValues());
      this.recording.checked = value.recorded;
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
    for (const control of [this.save, this.discard]) setUnavailable(control, !isDirty || this.isSaving);
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

  // Checks a field that was changed.
  onBlur(name) {
    const dirty = this.stored ? this.dirtyValues() : {};
    if (name in dirty) this.check({[name]: dirty[name]});
  }

  // texts: {name of the field: its text}. Resolves with the names of the wrong ones.
  async check(texts) {
    const values = valuesOf(texts);
    let problems;
    try {
      problems = await api.checkSettings(values);
    } catch (error) {
      problems = Object.fromEntries(Object.keys(values).map((name) => [name, error.message]));
    }
    for (const name of Object.keys(values)) {
      if (this.inputs.get(name).value !== texts[name]) continue; // it was changed meanwhile
      const problem = problems[name];
      this.showError(name, problem ? settingProblem(name, values[name], problem) : null);
    }
    return Object.keys(problems);
  }

  onSubmit(event) {
    event.preventDefault();
    if (isUnavailable(this.save)) return;
    const texts = this.dirtyValues(); // what is typed from now on is not part of it
    return this.once(async () => {
      const wrong = await this.check(texts);
      if (!wrong.length) await this.send(texts, false);
      else if (!this.el.isConnected) throw new Error("A value is wrong. Look at Settings.");
      else this.inputs.get(FIELDS.find(({name}) => wrong.includes(name)).name).focus();
    });
  }

  async once(change) {
    const onError = (error) => this.onError(error);
    this.message.replaceChildren();
    this.isSaving = true;
    this.showState();
    await attempt(this.save, change, {control: this.save, key: `settings ${this.id}`, onError});
    this.isSaving = false;
    this.showState();
  }

  onError({message}) {
    if (this.el.isConnected) this.message.replaceChildren(errorLine(message));
    else problem(null, sentence`Settings of ${this.name()} were not saved. ${message}`);
  }

  send(texts, force) {
    const values = valuesOf(texts);
    const before = Object.fromEntries(Object.keys(values).map((name) => [name, this.stored[name]]));
    return undoable(async (done) => {
      const result = await resultOf(api.setSettings(this.id, values, force));
      if (result && !result.saved) return this.askFirst(texts, result.inputAtRisk);
      this.onSaved(result?.settings ?? (await api.details(this.id)).settings, texts);
      const text = sentence`Settings of ${this.name()} saved. New requests use them now.`;
      if (before.proxy?.includes(MASK)) toast(text); // its password is not known here
      else done(text, () => this.restore(before));
    });
  }

  // Shows what is stored now, and what was typed since the texts were sent.
  onSaved(settings, sent) {
    const typed = [...this.inputs].map(([name, input]) => [name, input.value]);
    const known = {...this.stored, ...sent};
    const kept = Object.fromEntries(typed.filter(([name, text]) => text.trim() !== (known[name] ?? "").trim()));
    this.show(settings, kept);
    if (this.el.isConnected) this.keepDraft();
    else this.dropFromDraft(sent);
    this.details.saved(settings);
  }

  // After the form was left: a later one may have put more into the draft.
  dropFromDraft(sent) {
    const draft = Object.entries(settingDrafts.get(this.id) ?? {}).filter(([name, text]) => text !== sent[name]);
    if (draft.length) settingDrafts.set(this.id, Object.fromEntries(draft));
    else settingDrafts.delete(this.id);
  }

  // Undo never loses what was typed meanwhile.
  async restore(before) {
    const {saved, inputAtRisk} = await api.setSettings(this.id, before, false);
    if (saved) return;
    const count = inputAtRisk.length === 1 ? "a page" : `${inputAtRisk.length} pages`;
    const text = sentence`Text that was typed in ${count} of ${this.name()} would be lost.`;
    throw new Error(`${text} Save the old settings in Settings.`);
  }

  async askFirst(texts, inputAtRisk) {
    const tabs = await browser.hatbox.tabs.list({cookieStoreId: this.id}).catch(() => []);
    const titleOf = (id) => tabs.find((tab) => tab.id === id)?.title;
    const lines = inputAtRisk.map((each) => h("li", {}, riskText(each, titleOf)));
    const text = "New settings reload its pages. Text that was typed there and not sent is lost:";
    const body = h("div", {class: "dlg-text"}, h("p", {}, text), h("ul", {class: "plain-list"}, lines));
    dialog(sentence`Save, and lose what was typed in ${this.name()}?`, body, (close) => [
      btn("Keep the text", close, {kind: "quiet"}),
      btn("Save settings", () => this.force(texts, close), {kind: "danger solid"}),
    ]);
  }

  force(texts, close) {
    close();
    return this.once(() => this.send(texts, true));
  }
}

// What is sent: an empty text unsets a setting.
function valuesOf(texts) {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim() || null]));
}
