// What can be done with an identity, from any screen. Each change is sent, reported with a toast when it worked, and
// recorded with its undo; an error appears beside the control that caused it.

import {browser, connection} from "./api.js";
import {plural} from "./dom.js";
import {engineStarted} from "./engines_state.js";
import {identities} from "./identities_state.js";
import {identityEditor} from "./identity_editor.js";
import {dialog, popover, problem, toast} from "./layers.js";
import {changed} from "./undo.js";

const api = browser.contextualIdentities;

// Runs a change; an error is shown beside the anchor. Resolves with whether it worked.
async function attempt(anchor, change) {
  try {
    await change();
    return true;
  } catch (error) {
    problem(anchor, error.message);
    return false;
  }
}

// "Work is hidden. Its 7 tabs will come back when you show it."
function hiddenText({name, tabs}) {
  const what = tabs === 1 ? "Its tab" : `Its ${plural(tabs, "tab")}`;
  return `${name} is hidden.${tabs ? ` ${what} will come back when you show it.` : ""}`;
}

// reveal(id): called with the new identity, which a list may then show.
export function createIdentity({reveal} = {}) {
  const save = async (draft) => {
    const created = await api.create(draft);
    box.close();
    const id = created.cookieStoreId;
    changed(`${created.name} created.`, () => browser.hatbox.identities.remove(id));
    await identities.refresh(id);
    (reveal ?? revealNew)?.(id);
  };
  const form = identityEditor(null, {saveLabel: "Create identity", save, cancel: () => box.close()});
  const box = dialog("New identity", form);
}

let revealNew = null;

// The screen that shows a new identity, whichever way it was created. null when it is left.
export function setReveal(fn) {
  revealNew = fn;
}

export function editIdentity(identity, anchor) {
  const {cookieStoreId: id} = identity;
  const save = async (draft) => {
    const fields = ["name", "color", "icon"].filter((field) => draft[field] !== identity[field]);
    const pick = (from) => Object.fromEntries(fields.map((field) => [field, from[field]]));
    if (fields.length) {
      const sent = identities.sending(id, pick(draft), api.update(id, pick(draft)));
      if (!connection.online) pop.hidePopover(); // queued: it is shown, and an error later stands at the card
      await sent;
      changed(`${draft.name} saved.`, () => identities.sending(id, pick(identity), api.update(id, pick(identity))));
    }
    if (pop.isConnected) pop.hidePopover();
  };
  const form = identityEditor(identity, {saveLabel: "Save", save, cancel: () => pop.hidePopover()});
  const pop = popover(anchor, form, {label: `Edit ${identity.name}`, role: "dialog"});
}

export function setHidden(identity, hidden, anchor) {
  const {cookieStoreId: id} = identity;
  const send = (to) => identities.sending(id, {hidden: to}, to ? api.hide(id) : api.show(id));
  return attempt(anchor, async () => {
    await send(hidden);
    changed(hidden ? hiddenText(identity) : `${identity.name} is shown again.`, () => send(!hidden));
  });
}

export function removeIdentity(identity, anchor) {
  const {cookieStoreId: id, name} = identity;
  return attempt(anchor, async () => {
    const {trashId} = await identities.sending(id, {isRemoved: true}, browser.hatbox.identities.remove(id));
    const {trashDays} = await browser.hatbox.getProfile();
    const stays = `It stays there for ${plural(trashDays, "day")}.`;
    changed(`${name} moved to the trash. ${stays}`, async () => {
      await browser.hatbox.trash.restore(trashId);
      await identities.refresh(id);
    });
  });
}

export function cloneIdentity(identity, anchor) {
  return attempt(anchor, async () => {
    const copy = await browser.hatbox.identities.clone(identity.cookieStoreId);
    const text = `${identity.name} cloned as ${copy.name}, cookies and settings included.`;
    changed(text, () => browser.hatbox.identities.remove(copy.cookieStoreId));
  });
}

// to: the place in the order of all identities.
export function moveIdentity(identity, to, anchor) {
  const {cookieStoreId: id, name} = identity;
  const all = identities.all();
  const from = all.findIndex((other) => other.cookieStoreId === id);
  if (from === to || from < 0) return Promise.resolve(true);
  return attempt(anchor, async () => {
    await identities.moving(id, to, api.move(id, to));
    const text = `${name} moved to place ${to + 1} of ${all.length}.`;
    changed(text, () => identities.moving(id, from, api.move(id, from)), {quiet: true});
  });
}

export function openWindow(identity, anchor) {
  return attempt(anchor, async () => {
    const {tab, engine} = await browser.hatbox.tabs.open(identity.cookieStoreId);
    toast(`A window opens as ${identity.name}.`);
    if (engine === "starting") await engineStarted({tabId: tab.id}); // rejects when it cannot start
  });
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
    {label: "Edit name, colour, icon", glyph: "ui-edit", key: "E", run: () => editIdentity(identity, anchor)},
    {label, glyph, key: "H", run: () => setHidden(identity, !hidden, anchor)},
    {label: "Clone", glyph: "ui-clone", run: () => cloneIdentity(identity, anchor)},
    {label: "Copy id", glyph: "ui-copy", run: () => copyId(identity, anchor)},
    "-",
    {label: "Remove", glyph: "ui-trash", key: "Del", danger: true, run: () => removeIdentity(identity, anchor)},
  ];
}
