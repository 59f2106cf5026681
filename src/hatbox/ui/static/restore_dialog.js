// The dialog that restores a backup: the passphrase if it needs one, then what would change, then the restore.

import {browser} from "./api.js";
import {followWaiting, resultOf} from "./attempt.js";
import {errorText, planLines, planText, restoredText, restoreLabel} from "./archive_words.js";
import {btn, errorLine, h} from "./dom.js";
import {dialog, problem, toast} from "./layers.js";
import {Meter} from "./meter.js";
import {thousands} from "./numbers.js";

const api = browser.hatbox.archives;
const MAX_LINES = 200;

// The ids of the operations that this page has started, whose progress and end it shows where that was.
export const startedHere = new Set();

// anchor: a function; the element beside which an error appears when the dialog is closed.
export function restoreDialog(backup, anchor) {
  return new RestoreDialog(backup, anchor).box;
}

class RestoreDialog {
  constructor(backup, anchor) {
    this.backup = backup;
    this.anchor = anchor;
    this.isRestoring = false;
    this.operation = crypto.randomUUID();
    startedHere.add(this.operation);
    this.meter = new Meter("Reading the backup");
    this.content = h("div", {class: "dlg-text"});
    this.actions = h("div", {class: "dlg-actions"});
    this.isBusy = false;
    this.progress = (progress) => this.isBusy && progress.id === this.operation && this.meter.show(progress);
    api.onProgress.addListener(this.progress);
    this.box = dialog(`Restore from ${backup.name}?`, [this.content, this.meter.el, this.actions]);
    this.box.addEventListener("close", () => api.onProgress.removeListener(this.progress));
    // A restore cannot be stopped, so the dialog stays until its end, unless it waits for Hatbox.
    this.box.addEventListener("cancel", (event) => this.mustStay && event.preventDefault());
    this.box.addEventListener("keydown", (event) => {
      if (this.mustStay && event.key === "Escape") event.preventDefault(); // the second one cannot be cancelled
    });
    if (backup.isEncrypted) this.askPassphrase();
    else this.preview();
  }

  get mustStay() {
    return this.isRestoring && !this.isWaiting;
  }

  cancel(label = "Cancel") {
    return btn(label, () => this.box.close(), {kind: "quiet"});
  }

  askPassphrase(message) {
    const error = h("div", {id: "restore-error"}, message && errorLine(message));
    const field = h("input", {
      class: "field",
      type: "password",
      id: "restore-passphrase",
      autocomplete: "off",
      "aria-describedby": error.id,
      "aria-invalid": message ? "true" : null,
    });
    const submit = h("button", {class: "btn primary", type: "submit"}, "Show what would change");
    const form = h("form", {class: "f1", novalidate: true, id: "restore-form"});
    form.append(h("label", {for: field.id}, "Passphrase of this backup"), field, error);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.passphrase = field.value;
      if (field.value) this.preview();
      else this.askPassphrase("Write the passphrase that the backup was made with.");
    });
    submit.setAttribute("form", form.id);
    this.content.replaceChildren(form);
    this.actions.replaceChildren(this.cancel(), submit);
    field.focus();
  }

  options(more = {}) {
    return {id: this.operation, passphrase: this.passphrase ?? null, ...more};
  }

  async preview() {
    this.wait("Reading the backup. Nothing is changed yet.");
    try {
      this.showPlan(await api.preview(this.backup.name, this.options()));
    } catch (error) {
      this.fail(error.message);
    } finally {
      this.stopWaiting();
    }
  }

  wait(text) {
    const status = h("p", {role: "status", tabindex: "-1"}, text);
    this.content.replaceChildren(status);
    this.isBusy = true;
    this.meter.start();
    this.stopFollowing = followWaiting((waiting) => {
      this.isWaiting = Boolean(waiting);
      status.textContent = waiting ?? text;
      const close = this.isRestoring ? waiting && this.cancel("Close") : this.cancel();
      this.actions.replaceChildren(...(close ? [close] : []));
      (close || status).focus(); // the button that had it is gone
    });
  }

  // Progress that arrives later is that of work which is done.
  stopWaiting() {
    this.isBusy = false;
    this.stopFollowing();
    this.meter.hide();
  }

  // With a passphrase, the reason may be the passphrase: it stands beside the field.
  fail(reason) {
    const message = errorText(reason, this.backup.name);
    if (!this.box.isConnected) {
      if (this.isRestoring) problem(this.anchor(), `${this.backup.name} was not restored. ${message}`);
      return;
    }
    if (this.backup.isEncrypted) {
      this.askPassphrase(message);
      return;
    }
    this.content.replaceChildren(errorLine(message));
    this.actions.replaceChildren(this.cancel("Close"));
    this.actions.firstElementChild.focus();
  }

  showPlan(plan) {
    const lines = planLines(plan);
    const items = lines.slice(0, MAX_LINES).map(({name, text}) => {
      return h("li", {}, name && h("strong", {}, `${name}: `), text);
    });
    const more = lines.length - items.length;
    if (more > 0) items.push(h("li", {}, `and ${thousands(more)} more.`));
    const plain = "The backup is of an encrypted profile, and this one is not: its logins are stored here unencrypted.";
    const parts = [
      h("p", {}, planText(plan)),
      plan.brought.length > 0 && broughtBox(plan.brought),
      plan.storesPlain && errorLine(plain),
      items.length > 0 && h("ul", {class: "plain-list", tabindex: "0", "aria-label": "Changes"}, items),
    ];
    this.content.replaceChildren(...parts.filter(Boolean));
    const restore = btn(restoreLabel(plan), () => this.restore(plan), {kind: "primary"});
    this.actions.replaceChildren(...(plan.hasChanges ? [this.cancel(), restore] : [this.cancel("Close")]));
    this.actions.firstElementChild.focus();
  }

  async restore(plan) {
    this.isRestoring = true;
    this.wait("Restoring. All of it happens in one step, or nothing.");
    try {
      const done = await resultOf(api.restore(this.backup.name, this.options({plain: plan.storesPlain})));
      this.box.close();
      toast(done ? restoredText(done) : `Restored from ${this.backup.name}.`);
    } catch (error) {
      this.fail(error.message);
    } finally {
      this.isRestoring = false;
      this.stopWaiting();
    }
  }
}

// Proxies and permissions of a backup: above all other lines, and never cut. The backup may be of another person.
function broughtBox(sentences) {
  const heading = h("strong", {}, "It brings proxies or extensions. Restore it only if you know who made it.");
  const items = sentences.map((text) => h("li", {}, text));
  const list = h("ul", {class: "plain-list", tabindex: "0", "aria-label": "What it brings"}, items);
  return h("div", {class: "brought"}, heading, list);
}
