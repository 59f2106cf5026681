// What can be done with a tab. A change that worked is reported with its undo; an error appears beside its control.

import {browser} from "./api.js";
import {attempt} from "./attempt.js";
import {engineStarted} from "./engines_state.js";
import {pickIdentity} from "./identity_picker.js";
import {notice, toast} from "./layers.js";
import {sentence} from "./sentences.js";
import {undoable} from "./undo.js";

const api = browser.hatbox.tabs;

// anchor: a function, because the row may be drawn anew meanwhile.
export function bringToFront(tab, anchor) {
  const change = async () => {
    const {engine} = await api.activate(tab.id);
    if (engine === "starting") await started(tab, anchor());
    toast(sentence`“${tab.title}” is in front.`);
  };
  return attempt(anchor, change, {key: `tab ${tab.id}`, control: anchor()});
}

async function started(tab, anchor) {
  const shown = notice(anchor, sentence`“${tab.title}” opens when the engine has started.`);
  try {
    await engineStarted({});
  } finally {
    shown.hidePopover();
  }
}

export function closeTab(tab, anchor) {
  return replaced(tab, anchor, () => api.close(tab.id), sentence`Closed “${tab.title}”.`);
}

export function moveTab(tab, identity, anchor) {
  const text = sentence`“${tab.title}” reopened in ${identity.name}, with the cookies of ${identity.name}.`;
  return replaced(tab, anchor, () => api.moveTo(tab.id, identity.cookieStoreId), text);
}

// A tab that is closed or moved: once, with an Undo where its page can be opened again.
function replaced(tab, anchor, send, text) {
  const change = async (done) => {
    const {undo} = await send();
    if (undo === undefined) toast(text);
    else done(text, () => api.reopen(undo));
  };
  return attempt(anchor, () => undoable(change), {key: `tab ${tab.id}`, control: anchor(), done: text});
}

export function chooseTarget(tab, button, anchor) {
  const pick = (identity) => moveTab(tab, identity, anchor);
  pickIdentity(button, {label: `Move “${tab.title}” to`, heading: "Move to", exclude: [tab.cookieStoreId], pick});
}
