// Deletes cookies and site data. Cookies can be restored while the toast stays: until then the server has them in
// memory.

import {browser} from "../api.js";
import {attempt, resultOf} from "../attempt.js";
import {btn, errorLine, h} from "../dom.js";
import {dialog, toast} from "../layers.js";
import {undoable} from "../undo.js";
import {undoText} from "./cookie_texts.js";

const DONE = "Deleted.";
const api = browser.hatbox.sites;

// what: {cookie}, {host} or {all}. message: called with the number of deleted cookies. Resolves with that number.
export function removeCookies(cookieStoreId, what, message) {
  return undoable(async (done) => {
    const result = await resultOf(api.remove(cookieStoreId, what));
    if (!result) {
      toast(DONE);
      return 1; // how many is not known
    }
    const {removed, undo} = result;
    if (removed) offerUndo(done, message(removed), undo);
    return removed;
  });
}

// Deletes the cookies and the site data of a site or of all sites, after a question: site data cannot be restored.
// what: {host} or {all}. words: {title, contents, done(number of deleted cookies)}.
export function askToDeleteWithData(cookieStoreId, what, {title, contents, done}) {
  const wrong = h("div");
  const run = (button, close) => {
    const change = async () => {
      const result = await resultOf(api.remove(cookieStoreId, {...what, siteData: true}));
      close();
      toast(result ? done(result.removed) : DONE);
    };
    const onError = (error) => wrong.replaceChildren(errorLine(error.message));
    return attempt(button, change, {control: button, onError});
  };
  dialog(title, [h("p", {}, `${contents}. This cannot be undone.`), wrong], (close) => {
    const verb = btn("Delete forever", () => run(verb, close), {kind: "danger solid"});
    return [btn("Keep it", close, {kind: "quiet"}), verb];
  });
}

// Shows what was done, with Undo if there is a token. done: of undoable().
export function offerUndo(done, message, token) {
  if (!token) {
    toast(message);
    return;
  }
  const options = {whileToast: true, onExpire: () => api.forget(token).catch(console.error)};
  done(message, () => restore(token), options);
}

async function restore(token) {
  const text = undoText(await api.undo(token));
  if (text) toast(text);
}
