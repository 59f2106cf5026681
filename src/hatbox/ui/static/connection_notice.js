// The strip above the title while the server is not reachable, and the message when it is back.

import {connection} from "./api.js";
import {btn, h} from "./dom.js";
import {toast} from "./layers.js";

const FIRST_CONNECTION = 1000; // ms: the first connection of a page is not a reconnection

export function connectionNotice() {
  const slot = h("div", {});
  let wasOnline = connection.online;
  let lost = false; // whether the strip has been shown
  const banner = h(
    "div",
    {class: "banner", role: "status"},
    h("span", {class: "spin", "aria-hidden": "true"}),
    h("span", {class: "grow"}, "Reconnecting to Hatbox. What you change now is sent once, when it is back."),
    btn("Try now", () => connection.retry(), {kind: "sm"}),
  );

  function update() {
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
