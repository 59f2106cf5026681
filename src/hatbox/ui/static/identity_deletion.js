// Asks before an identity is removed that the trash cannot take: Undo would not work.

import {browser} from "./api.js";
import {tookEffect} from "./attempt.js";
import {btn, h, plural} from "./dom.js";
import {identities} from "./identities_state.js";
import {dialog, toast} from "./layers.js";
import {foreverReason} from "./removal_words.js";

// Removes an identity that was just created, for the Undo of its creation. Without a trash it is deleted.
export async function removeCreated(id) {
  try {
    await browser.hatbox.identities.remove(id);
  } catch (error) {
    if (!foreverReason(error.message)) throw error;
    await browser.hatbox.identities.remove(id, {forever: true});
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
        await identities.sending(id, {isRemoved: true}, browser.hatbox.identities.remove(id, {forever: true}));
        toast(`${name} deleted forever.`);
        resolve(true);
      } catch (error) {
        if (tookEffect(error, `${name} deleted forever.`)) resolve(true);
        else reject(error);
      }
    };
    const box = dialog(`Delete ${name} forever?`, h("p", {}, `${why} ${what}`), (close) => [
      btn("Keep it", close, {kind: "quiet"}),
      btn("Delete forever", () => run(close), {kind: "danger solid"}),
    ]);
    box.addEventListener("close", () => isDeleting || resolve(false));
  });
}
