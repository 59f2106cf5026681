// What can be done with an identity, from any screen. Each change is sent, reported with a toast when it worked, and
// recorded with its undo; an error appears beside the control that caused it.

import {browser, connection} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {plural} from "./dom.js";
import {engineStarted, lostTabText} from "./engines_state.js";
import {identities} from "./identities_state.js";
import {askToDelete, removeCreated} from "./identity_deletion.js";
import {identityEditor} from "./identity_editor.js";
import {shareIdentity} from "./identity_sharing.js";
import {dialog, notice, popover, problem, toast} from "./layers.js";
import {foreverReason} from "./removal_words.js";
import {sentence} from "./sentences.js";
import {undoable} from "./undo.js";

const api = browser.contextualIdentities;

// "Work is hidden. Its 7 tabs will come back when you show it."
function hiddenText({name, tabs}) {
  const what = tabs === 1 ? "Its tab" : `Its ${plural(tabs, "tab")}`;
  return sentence`${name} is hidden.${tabs ? ` ${what} will come back when you show it.` : ""}`;
}

export function createIdentity() {
  const save = ({isTemporary, ...draft}) => undoable(async (done) => {
    const name = draft.name || "A temporary identity";
    const creating = isTemporary ? createTemporary(draft) : api.create(draft);
    const isQueued = !connection.online;
    if (isQueued) box.close(); // the page stays usable
    const waiting = isQueued && notice(null, sentence`${name} is created when Hatbox is back.`);
    let created = null;
    try {
      created = await resultOf(creating);
    } catch (error) {
      if (box.open) throw error; // stands in the form
      problem(null, sentence`${name} was not created. ${error.message}`);
      return;
    } finally {
      if (waiting) waiting.hidePopover();
    }
    const isHere = box.open;
    box.close();
    if (!created) return toast(sentence`${name} created.`);
    const id = created.cookieStoreId;
    done(sentence`${created.name} created.`, () => removeCreated(id));
    await identities.refresh(id).catch(console.error);
    // Created later, the user is elsewhere: nothing may move the focus then.
    if (isHere || document.activeElement.matches("body, main")) revealNew?.(id);
  });
  const form = identityEditor(null, {saveLabel: "Create identity", save, cancel: () => box.close()});
  const box = dialog("New identity", form);
}

// Without a name, it is called Temporary and a number.
function createTemporary({name, ...face}) {
  return browser.hatbox.identities.createTemporary(name ? {name, ...face} : face);
}

let revealNew = null;

// The screen that shows a new identity, whichever way it was created. null when it is left.
export function setReveal(fn) {
  revealNew = fn;
}

export function editIdentity(identity, anchor) {
  const {cookieStoreId: id} = identity;
  const save = (draft) => undoable(async (done) => {
    const fields = ["name", "color", "icon"].filter((field) => draft[field] !== identity[field]);
    const pick = (from) => Object.fromEntries(fields.map((field) => [field, from[field]]));
    const before = pick({...identity, name: identity.storedName ?? identity.name});
    if (fields.length) {
      const sent = identities.sending(id, pick(draft), api.update(id, pick(draft)));
      if (!connection.online) pop.hidePopover(); // queued: it is shown
      try {
        await resultOf(sent);
      } catch (error) {
        if (pop.matches(":popover-open")) throw error; // stands in the form
        problem(anchor, sentence`${draft.name} was not saved. ${error.message}`);
        return;
      }
      done(sentence`${draft.name} saved.`, () => identities.sending(id, before, api.update(id, before)));
    }
    if (pop.isConnected) pop.hidePopover();
  });
  const form = identityEditor(identity, {saveLabel: "Save", save, cancel: () => pop.hidePopover()});
  const pop = popover(anchor, form, {label: `Edit ${identity.name}`, role: "dialog"});
}

export function setHidden(identity, hidden, anchor) {
  const {cookieStoreId: id} = identity;
  const send = (to) => identities.sending(id, {hidden: to}, to ? api.hide(id) : api.show(id));
  const text = hidden ? hiddenText(identity) : sentence`${identity.name} is shown again.`;
  const change = async (done) => {
    await resultOf(send(hidden));
    done(text, () => send(!hidden));
  };
  // Not "hide or show": what is hidden without a connection may be shown again before it is sent.
  return attempt(anchor, () => undoable(change), {key: `${hidden ? "hide" : "show"} ${id}`});
}

export async function removeIdentity(identity, anchor) {
  const {cookieStoreId: id, name} = identity;
  let isRemoved = true;
  const remove = async (done) => {
    const removing = browser.hatbox.identities.remove(id);
    const {trashId} = await identities.sending(id, {isRemoved: true}, removing);
    if (!trashId) return toast(sentence`${name} deleted forever. It was temporary.`);
    done(sentence`${name} moved to the trash.${await stayText()}`, async () => {
      await browser.hatbox.trash.restore(trashId);
      await identities.refresh(id);
    }, {subject: trashId});
  };
  const change = async () => {
    try {
      await undoable(remove);
    } catch (error) {
      const why = foreverReason(error);
      if (!why) throw error;
      isRemoved = await askToDelete(identity, why);
    }
  };
  const worked = await attempt(anchor, change, {key: `remove ${id}`, done: sentence`${name} removed.`});
  return worked && isRemoved;
}

async function stayText() {
  try {
    const {trashDays} = await browser.hatbox.getProfile();
    return ` It stays there for ${plural(trashDays, "day")}.`;
  } catch {
    return ""; // the removal worked, and its Undo must be offered
  }
}

export function cloneIdentity(identity, anchor) {
  const {cookieStoreId: id, name} = identity;
  const text = sentence`${name} cloned.`;
  const change = async (done) => {
    const copy = await browser.hatbox.identities.clone(id);
    const whole = sentence`${name} cloned as ${copy.name}, cookies and settings included.`;
    done(whole, () => removeCreated(copy.cookieStoreId, copy));
  };
  return attempt(anchor, () => undoable(change), {key: `clone ${id}`, control: anchor, done: text});
}

// to: the place in the order of all identities.
export function moveIdentity(identity, to, anchor) {
  const {cookieStoreId: id, name} = identity;
  const all = identities.all();
  const from = all.findIndex((other) => other.cookieStoreId === id);
  if (from === to || from < 0) return Promise.resolve(true);
  const text = sentence`${name} moved to place ${to + 1} of ${all.length}.`;
  const change = async (done) => {
    await resultOf(identities.moving(id, to, api.move(id, to)));
    done(text, () => identities.moving(id, from, api.move(id, from)), {quiet: true});
  };
  return attempt(anchor, () => undoable(change));
}

export function openWindow(identity, anchor) {
  const {cookieStoreId: id, name} = identity;
  const change = async () => {
    const {tab, engine} = await browser.hatbox.tabs.open(id);
    if (engine === "starting") await shownWhile(anchor, "The browser is starting.", engineStarted({tabId: tab.id}));
    toast(sentence`A window is open as ${name}.`);
  };
  return attempt(anchor, change, {key: `open ${id}`, control: anchor, done: lostTabText(name)});
}

// Shows a notice until the promise settles.
async function shownWhile(anchor, text, promise) {
  const shown = notice(anchor, text);
  try {
    return await promise;
  } finally {
    shown.hidePopover();
  }
}

export function copyId(identity, anchor) {
  return attempt(anchor, async () => {
    await navigator.clipboard.writeText(identity.cookieStoreId);
    toast(`Copied ${identity.cookieStoreId}.`);
  });
}

// The items of the menu of an identity. anchor: where the editor and errors appear.
export function actionsOf(identity, anchor) {
  const {hidden} = identity;
  const [label, glyph] = hidden ? ["Show", "ui-eye"] : ["Hide", "ui-eye-off"];
  return [
    {label: "Open window", glyph: "ui-window", key: "O", run: () => openWindow(identity, anchor)},
    {label: "Edit name, color, icon", glyph: "ui-edit", key: "E", run: () => editIdentity(identity, anchor)},
    {label, glyph, key: "H", run: () => setHidden(identity, !hidden, anchor)},
    {label: "Clone", glyph: "ui-clone", run: () => cloneIdentity(identity, anchor)},
    {label: "Share as a file", glyph: "ui-upload", run: () => shareIdentity(identity, anchor)},
    {label: "Copy id", glyph: "ui-copy", run: () => copyId(identity, anchor)},
    "-",
    {label: "Remove", glyph: "ui-trash", key: "Del", danger: true, run: () => removeIdentity(identity, anchor)},
  ];
}
