// Asks before an identity is removed that the trash cannot take: Undo would not work.

import {browser} from "./api.js";
import {btn, h, plural} from "./dom.js";
import {identities} from "./identities_state.js";
import {dialog, toast} from "./layers.js";

// Whether a removal was refused because it could not be undone.
export function isForeverOnly(error) {
  return /for ever/.test(error.message);
}

// Resolves with whether the identity was deleted.
export function askToDelete(identity, reason) {
  const {cookieStoreId: id, name, cookies, tabs} = identity;
  const why = /too large/.test(reason) ? "It is too large for the trash." : "The trash of this profile is switched off.";
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
        reject(error);
      }
    };
    const box = dialog(`Delete ${name} forever?`, h("p", {}, `${why} ${what}`), (close) => [
      btn("Keep it", close, {kind: "quiet"}),
      btn("Delete forever", () => run(close), {kind: "danger solid"}),
    ]);
    box.addEventListener("close", () => isDeleting || resolve(false));
  });
}
