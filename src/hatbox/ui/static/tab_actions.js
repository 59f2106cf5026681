// What can be done with a tab. A change that worked is reported with its undo; an error appears beside its control.

import {browser} from "./api.js";
import {engineStarted} from "./engines_state.js";
import {pickIdentity} from "./identity_picker.js";
import {problem, toast} from "./layers.js";
import {changed} from "./undo.js";

const api = browser.hatbox.tabs;

async function attempt(anchor, change) {
  try {
    await change();
  } catch (error) {
    problem(anchor(), error.message);
  }
}

// anchor: a function, because the row may be drawn anew meanwhile.
export function bringToFront(tab, anchor) {
  return attempt(anchor, async () => {
    const {engine} = await api.activate(tab.id);
    if (engine === "starting") {
      toast(`“${tab.title}” opens when the engine has started.`);
      await engineStarted({});
    }
    toast(`“${tab.title}” is in front.`);
  });
}

export function closeTab(tab, anchor) {
  return attempt(anchor, async () => {
    const {undo} = await api.close(tab.id);
    const text = `Closed “${tab.title}”.`;
    if (undo === undefined) toast(text);
    else changed(text, () => api.reopen(undo));
  });
}

export function moveTab(tab, identity, anchor) {
  return attempt(anchor, async () => {
    const {undo} = await api.moveTo(tab.id, identity.cookieStoreId);
    const text = `“${tab.title}” reopened in ${identity.name}, with the cookies of ${identity.name}.`;
    if (undo === undefined) toast(text);
    else changed(text, () => api.reopen(undo));
  });
}

export function chooseTarget(tab, button, anchor) {
  const pick = (identity) => moveTab(tab, identity, anchor);
  pickIdentity(button, {label: `Move “${tab.title}” to`, heading: "Move to", exclude: [tab.cookieStoreId], pick});
}
