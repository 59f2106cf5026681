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
  let lost = false; // whether the strip has been shown
  const banner = h(
    "div",
    {class: "banner", role: "status"},
    h("span", {class: "spin", "aria-hidden": "true"}),
    text,
    btn("Try now", () => connection.retry(), {kind: "sm"}),
  );

  function update() {
    text.textContent = connection.refused ? REFUSED : RECONNECTING;
    if (connection.online) {
      slot.replaceChildren();
      if (lost) toast("Connected again. Nothing was lost.");
      lost = false;
      wasOnline = true;
    } else if (wasOnline && !lost) {
      lost = true;
      slot.replaceChildren(banner);
    }
  }

  connection.onStatus(update);
  setTimeout(() => {
    wasOnline = true;
    update();
  }, FIRST_CONNECTION);
  update();
  return slot;
}
