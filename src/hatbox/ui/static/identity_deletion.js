// Asks before an identity is removed that the trash cannot take: Undo would not work.

import {browser} from "./api.js";
import {resultOf} from "./attempt.js";
import {btn, h, plural} from "./dom.js";
import {identities} from "./identities_state.js";
import {dialog, toast} from "./layers.js";
import {foreverReason, isUsed} from "./removal_words.js";
import {sentence} from "./sentences.js";
import {impossible} from "./undo_words.js";

// Removes an identity that was created here, for the Undo of its creation. Without a trash it is deleted, unless it has
// got more than at its creation: that would be lost. before: {cookies, tabs} of then.
export async function removeCreated(id, before = {cookies: 0, tabs: 0}) {
  try {
    await resultOf(browser.hatbox.identities.remove(id));
  } catch (error) {
    const why = foreverReason(error);
    if (!why) throw error;
    const [now] = await browser.hatbox.identities.summaries([id]);
    const stays = now && sentence`${why} ${now.name} has been used meanwhile, so it stays.`;
    if (now && isUsed(now, before)) throw impossible(stays);
    await resultOf(browser.hatbox.identities.remove(id, {forever: true}));
  }
}

// Moves a restored identity back to the trash, for the Undo of its restoration.
export async function removeRestored(id, name) {
  try {
    await resultOf(browser.hatbox.identities.remove(id));
  } catch (error) {
    const why = foreverReason(error);
    throw why ? impossible(sentence`${why} So ${name} stays.`) : error;
  }
}

// why: see removal_words.js. Resolves with whether the identity was deleted.
export function askToDelete(identity, why) {
  const {cookieStoreId: id, name, cookies, tabs} = identity;
  const what = `${plural(cookies, "cookie")} and ${plural(tabs, "tab")} are deleted with it. This cannot be undone.`;
  return new Promise((resolve, reject) => {
    let isDeleting = false;
    const run = async (close) => {
      isDeleting = true;
      close();
      try {
        const removing = browser.hatbox.identities.remove(id, {forever: true});
        await resultOf(identities.sending(id, {isRemoved: true}, removing));
        toast(sentence`${name} deleted forever.`);
        resolve(true);
      } catch (error) {
        reject(error);
      }
    };
    const box = dialog(sentence`Delete ${name} forever?`, h("p", {}, `${why} ${what}`), (close) => [
      btn("Keep it", close, {kind: "quiet"}),
      btn("Delete forever", () => run(close), {kind: "danger solid"}),
    ]);
    box.addEventListener("close", () => isDeleting || resolve(false));
  });
}
