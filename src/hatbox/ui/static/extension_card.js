// The card of an extension: its state, its button, its menu, what it may do, and its console. Updated in place.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {command} from "./commands.js";
import {btn, errorLine, h, icon, iconButton, setUnavailable} from "./dom.js";
import {ExtensionLog} from "./extension_log.js";
import {expectPage, showOpenPage} from "./extension_page.js";
import {confirmRemoval} from "./extension_removal.js";
import {grantedText} from "./granted_text.js";
import {menu, problem, toast} from "./layers.js";
import {sentence} from "./sentences.js";
import {undoable} from "./undo.js";

const api = browser.hatbox.extensions;

export class ExtensionCard {
  // refresh: reads the list of extensions again.
  constructor(extension, refresh) {
    this.refresh = refresh;
    this.failure = null; // the error of the last call
    this.isBusy = false;
    this.id = extension.id;
    this.log = new ExtensionLog(extension.id, extension.name);
    this.face = h("span", {class: "ext-icon", "aria-hidden": "true"});
    this.name = h("h2", {class: "ellipsis"});
    this.dot = h("span", {class: "dot"});
    this.state = h("span", {});
    this.run = h("input", {type: "checkbox", class: "switch", role: "switch", onchange: () => this.toggle()});
    this.more = iconButton("ui-dots", "", () => this.openMore(), {"aria-haspopup": "menu"});
    const onAction = () => this.click(this.action, api.clickAction);
    this.action = h("button", {class: "btn sm", type: "button", onclick: onAction});
    this.options = btn("Options", () => this.showOptions(), {kind: "sm quiet"});
    this.menu = btn("Menu", () => this.openMenu(), {kind: "sm quiet", "aria-haspopup": "menu"});
    this.note = h("p", {class: "ext-note small muted", hidden: true});
    this.problem = h("div", {class: "ext-problem", hidden: true});
    this.grantedCount = h("span", {});
    this.permissions = h("div", {});
    const turn = () => h("span", {class: "turn"}, icon("ui-right"));
    const granted = h("details", {}, h("summary", {}, turn(), this.grantedCount), this.permissions);
    const console = h("details", {}, h("summary", {}, turn(), "Log"), this.log.el);
    console.addEventListener("toggle", () => (console.open ? this.log.open() : this.log.close()));
    const state = h("div", {class: "line small muted"}, this.dot, this.state);
    const title = h("div", {class: "grow ext-title"}, this.name, state);
    this.el = h(
      "section",
      {class: "box ext"},
      h("header", {}, this.face, title, this.run, this.more),
      h("div", {class: "buttons"}, this.action, this.options, this.menu),
      this.note,
      this.problem,
      granted,
      console,
    );
    this.update(extension);
  }

  destroy() {
    this.log.close();
  }

  update(extension) {
    const signature = JSON.stringify(extension);
    if (signature === this.signature) return;
    this.signature = signature;
    this.extension = extension;
    const {name, version, isRunning, isInstalled, machine, action, menus, commands} = extension;
    this.el.setAttribute("aria-label", name);
    this.name.textContent = name;
    this.name.title = extension.extensionId;
    this.dot.classList.toggle("off", !isRunning);
    const state = !isRunning ? "Stopped" : isInstalled ? "Running" : "Running from a folder";
    if (!this.isBusy) this.state.textContent = `${state}, version ${version}`;
    this.state.title = isRunning ? `pid ${extension.pid} on ${machine}` : "";
    if (!this.isBusy) this.run.checked = isRunning;
    this.run.disabled = !this.isBusy && !isRunning && !isInstalled;
    setUnavailable(this.run, this.isBusy);
    this.run.setAttribute("aria-label", `Run ${name}`);
    this.more.setAttribute("aria-label", `More about ${name}`);
    this.more.title = "More";
    this.drawFace(extension);
    this.drawAction(action);
    this.options.hidden = !extension.hasOptions;
    this.options.disabled = !extension.showsPages;
    this.options.setAttribute("aria-label", `Options of ${name}`);
    this.menu.hidden = !menus.length && !commands.length;
    this.menu.disabled = !isRunning;
    this.menu.setAttribute("aria-label", `Menu of ${name}`);
    this.drawNote(extension);
    this.showProblem();
    this.drawPermissions(extension.permissions);
  }

  drawFace({icon: url, name}) {
    if (this.face.dataset.icon === (url ?? name)) return;
    this.face.dataset.icon = url ?? name;
    this.face.classList.toggle("has-image", Boolean(url));
    this.face.replaceChildren(url ? h("img", {src: url, alt: "", width: "32", height: "32"}) : [...name][0] ?? "?");
  }

  drawAction(action) {
    this.action.hidden = !action;
    if (!action) return;
    const {title, badge, badgeColor, enabled, hasPopup, icon: url} = action;
    this.action.disabled = !enabled || (hasPopup && !this.extension.showsPages);
    const label = badge && h("span", {class: "badge", "aria-label": `Badge: ${badge}`}, badge);
    if (label && badgeColor) setBadgeColor(label, badgeColor);
    const image = url && h("img", {src: url, alt: "", width: "16", height: "16"});
    this.action.replaceChildren(...[image, h("span", {class: "ellipsis"}, title), label].filter(Boolean));
    if (hasPopup) this.action.setAttribute("aria-haspopup", "dialog");
    else this.action.removeAttribute("aria-haspopup");
  }

  // Why a popup or the options page cannot be opened, although the extension is running.
  drawNote({name, isRunning, isInstalled, showsPages, action, hasOptions, hasSidebar}) {
    const hasPages = action?.hasPopup || hasOptions || hasSidebar;
    this.note.hidden = !isRunning || showsPages || !hasPages;
    const remedy = isInstalled ? "Stop it, and start it here." : `Run it with: ${command("run --engine chromium")}`;
    const why = sentence`${name} runs in a program without Chromium, so its pages cannot be opened.`;
    this.note.textContent = `${why} ${remedy}`;
  }

  drawPermissions(permissions) {
    this.grantedCount.textContent = grantedText(permissions);
    const names = JSON.stringify(permissions.map((each) => [each.name, each.required]));
    if (this.permissions.dataset.names !== names) {
      this.permissions.dataset.names = names;
      this.switches = new Map(permissions.map((each) => [each.name, this.permissionSwitch(each)]));
      const rows = permissions.map((each) => permissionRow(each, this.switches.get(each.name)));
      this.permissions.replaceChildren(...rows);
    }
    for (const each of permissions) this.switches.get(each.name).checked = each.granted;
  }

  permissionSwitch({name, required}) {
    const onchange = () => this.setGranted(name, control.checked);
    const props = {type: "checkbox", class: "switch", role: "switch", disabled: required};
    const control = h("input", {...props, onchange});
    return control;
  }

  setGranted(permission, isGranted) {
    const set = (granted) => (granted ? api.grant(this.id, permission) : api.revoke(this.id, permission));
    return undoable(async (done) => {
      const isDone = await this.act(this.switches.get(permission), () => set(isGranted));
      const text = sentence`${this.extension.name}: ${permission} ${isGranted ? "granted" : "revoked"}.`;
      if (isDone) done(text, () => set(!isGranted));
      else this.switches.get(permission).checked = !isGranted;
    });
  }

  toggle() {
    if (this.isBusy) this.run.checked = !this.run.checked; // it is not asked twice
    else undoable((done) => this.startOrStop(this.run.checked, done));
  }

  async startOrStop(isStarting, done) {
    const set = (running) => (running ? api.start(this.id) : api.stop(this.id));
    const {name, isInstalled} = this.extension;
    this.isBusy = true;
    setUnavailable(this.run, true);
    this.state.textContent = isStarting ? "Starting…" : "Stopping…";
    const isDone = await this.act(this.run, () => set(isStarting));
    await this.refresh(); // it may have ended again
    this.isBusy = false;
    this.signature = null;
    this.update(this.extension);
    if (isStarting && this.extension.problem) return; // the card shows it: this did not work
    const text = sentence`${name} ${isStarting ? "started" : "stopped"}.`;
    if (isDone && (isStarting || isInstalled)) done(text, () => set(!isStarting));
    else if (isDone) toast(text); // one from a folder cannot be started from here
  }

  openMenu() {
    const {name, menus, commands} = this.extension;
    const depths = new Map();
    const items = menus.map((item) => {
      const depth = item.parentId === undefined ? 0 : (depths.get(item.parentId) ?? 0) + 1;
      depths.set(item.id, depth);
      if (item.type === "separator") return "-";
      const label = `${"\u2003".repeat(depth)}${item.checked ? "✓ " : ""}${item.title}`;
      return item.canClick ? {label, run: () => this.click(this.menu, api.clickMenu, item)} : {label};
    });
    const shortcuts = commands.map((command) => ({
      label: command.description || command.name,
      key: command.shortcut,
      run: () => this.click(this.menu, api.runCommand, {id: command.name, title: command.description || command.name}),
    }));
    const headed = (label, list) => (list.length ? [{label}, ...list] : []);
    menu(this.menu, [...headed("Commands", shortcuts), ...headed("Menu items", items)], `Menu of ${name}`);
  }

  openMore() {
    const {name, isInstalled, showsPages, hasSidebar} = this.extension;
    const items = [
      {label: "Copy id", glyph: "ui-copy", run: () => this.copyId()},
      showsPages && hasSidebar && {label: "Open sidebar", glyph: "ui-window", run: () => this.showSidebar()},
      isInstalled && "-",
      isInstalled && {
        label: "Delete forever",
        glyph: "ui-trash",
        danger: true,
        run: () => confirmRemoval(this.extension),
      },
    ];
    menu(this.more, items, name);
  }

  async copyId() {
    const {name, extensionId} = this.extension;
    try {
      await navigator.clipboard.writeText(extensionId);
      toast(`Copied the id of ${name}.`);
    } catch {
      problem(this.more, `The browser did not allow copying. The id is ${extensionId}`);
    }
  }

  // Chromium may have to be started for a page, which takes some seconds.
  showOptions() {
    return this.once(this.options, async () => {
      expectPage(this.id, "options");
      const opened = await this.act(this.options, () => api.openOptions(this.id).then(() => true));
      if (!opened) return;
      if (opened.result) await showOpenPage(this.options, this.extension, "options");
      else toast(`The options page of ${this.extension.name} opens in Chromium.`); // it was requested at least
    });
  }

  showSidebar() {
    return this.once(this.more, async () => {
      if (await this.act(this.more, () => api.openSidebar(this.id))) toast(`The sidebar of ${this.extension.name} is open in Chromium.`);
    });
  }

  // Clicks a button or menu item, or runs a command. Its popup may open.
  click(button, call, item) {
    return this.once(button, async () => {
      expectPage(this.id, "popup");
      const clicked = await this.act(button, () => call(this.id, ...(item ? [item.id] : [])));
      if (!clicked) return;
      if (clicked.result) await showOpenPage(button, this.extension, "popup");
      else toast(`“${item ? item.title : this.extension.action.title}” clicked.`);
    });
  }

  async once(button, work) {
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    try {
      await work();
    } catch (error) {
      this.failure = error.message;
      this.showProblem();
    } finally {
      button.ariaBusy = null;
    }
  }

  // Sends a call once, and shows its error under the buttons. Resolves to {result}; null if it did not work.
  async act(control, call) {
    let result = null;
    const fail = (message) => {
      this.failure = message;
      this.showProblem();
    };
    fail(null);
    const change = async () => {
      result = await resultOf(call());
    };
    return (await attempt(control, change, {control, onError: (error) => fail(error.message)})) ? {result} : null;
  }

  // What is wrong with the extension, or with the last call.
  showProblem() {
    const message = this.failure ?? this.extension?.problem ?? "";
    if (this.problem.dataset.text === message) return;
    this.problem.dataset.text = message;
    this.problem.hidden = !message;
    this.problem.replaceChildren(...(message ? [errorLine(message)] : []));
  }
}

function permissionRow({name, sentence, required}, control) {
  const why = required && h("span", {class: "faint small"}, ", required to run");
  const text = h("span", {class: "grow"}, sentence, h("br"), h("code", {class: "faint"}, name), why);
  return h("label", {class: "perm"}, text, control);
}

// The text of a badge is black or white, whichever is easier to read on its color.
function setBadgeColor(badge, color) {
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(Number);
  if (blue === undefined) return;
  const light = (channel) => ((channel / 255) ** 2.2) || 0;
  const luminance = 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  badge.style.background = `rgb(${red} ${green} ${blue})`;
  badge.style.color = luminance > 0.18 ? "#111113" : "#ffffff";
}
