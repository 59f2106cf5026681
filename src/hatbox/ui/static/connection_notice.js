// The strip above the title while the server is not reachable, and the message when it is back.

import {connection} from "./api.js";
import {btn, h} from "./dom.js";
import {toast} from "./layers.js";

const FIRST_CONNECTION = 1000; // ms: the first connection of a page is not a reconnection
const RECONNECTING = "Reconnecting to Hatbox. What you change now is sent once, when it is back.";
const REFUSED = "Hatbox was started again and does not know this page. Run hatbox ui to open a new one.";

export function connectionNotice() {
  const slot = h("div", {});
  const text = h("span", {class: "grow"});
  let wasOnline = connection.online;
  let isLate = false; // the first connection takes long
  const banner = h(
    "div",
    {class: "banner", role: "status"},
    h("span", {class: "spin", "aria-hidden": "true"}),
    text,
    btn("Try now", () => connection.retry(), {kind: "sm"}),
  );

  function update() {
    text.textContent = connection.refused ? REFUSED : RECONNECTING;
    const isShown = banner.isConnected;
    if (connection.online) {
      slot.replaceChildren();
      if (isShown && wasOnline) toast("Connected again. Nothing was lost.");
      wasOnline = true;
    } else if ((wasOnline || isLate) && !isShown) {
      slot.replaceChildren(banner);
    }
  }

  connection.onStatus(update);
  setTimeout(() => {
    isLate = true;
    update();
  }, FIRST_CONNECTION);
  update();
  return slot;
}
