// Deletes cookies. They can be restored while the toast stays: until then the server has them in memory.

import {browser} from "../api.js";
import {toast} from "../layers.js";
import {changed} from "../undo.js";
import {undoText} from "./cookie_texts.js";

const api = browser.hatbox.sites;

// what: {cookie}, {host} or {all}. message: called with the number of deleted cookies. Resolves with that number.
export async function removeCookies(cookieStoreId, what, message) {
  const {removed, undo} = await api.remove(cookieStoreId, what);
  if (removed) offerUndo(message(removed), undo);
  return removed;
}

// Shows what was done, with Undo if there is a token.
export function offerUndo(message, token) {
  if (!token) {
    toast(message);
    return;
  }
  const options = {while_toast: true, onExpire: () => api.forget(token).catch(console.error)};
  changed(message, () => restore(token), options);
}

async function restore(token) {
  const text = undoText(await api.undo(token));
  if (text) toast(text);
}
