// The strip above the title while the server is not reachable, and the message when it is back.

import {connection} from "./api.js";
import {command} from "./commands.js";
import {btn, h, plural, say} from "./dom.js";
import {toast} from "./layers.js";

const FIRST_CONNECTION = 1000; // ms: the first connection of a page is not a reconnection
const COUNTING = 500; // ms between two counts of the changes that wait
const RECONNECTING = "Reconnecting to Hatbox. What you change now is sent once, when it is back.";
const stopped = () => `${RECONNECTING} It is not running now: start it with ${command("ui")}.`;
const SILENT = "Hatbox does not answer. What you change now is sent once, when it does.";
const refused = () => (connection.unlinked
  ? `A copied address gives no access. Duplicate the tab in which Hatbox is open, or run ${command("ui")} to open a new one.`
  : `Hatbox was started again and does not know this page. Run ${command("ui")} to open a new one.`);
const FULL = "Too many pages of Hatbox are open. Close one.";

export function connectionNotice() {
  const slot = h("div", {});
  const text = h("span", {class: "grow"});
  const spinner = h("span", {class: "spin", "aria-hidden": "true"});
  const retry = btn("Try now", () => connection.retry(), {kind: "sm"});
  const banner = h("div", {class: "banner"}, spinner, text, retry);
  let wasOnline = connection.online;
  let isLate = false; // the first connection takes long
  let isSilent = false;
  let timer = null;

  function show() {
    slot.replaceChildren(banner);
    say(text.textContent, "polite");
    timer = setInterval(() => (text.textContent = explanation()), COUNTING);
  }

  function hide() {
    clearInterval(timer);
    slot.replaceChildren();
  }

  function update() {
    text.textContent = explanation();
    spinner.hidden = retry.hidden = connection.refused; // trying again cannot help
    if (connection.silent) retry.hidden = true; // it is connected
    const isShown = banner.isConnected;
    const wasSilent = isSilent;
    isSilent = connection.silent;
    if (connection.online) {
      hide();
      if (isShown && wasOnline) toast(wasSilent ? "Hatbox answers again." : "Connected again. Nothing was lost.");
      wasOnline = true;
    } else if ((wasOnline || isLate) && !isShown) {
      show();
    }
  }

  connection.onStatus(update);
  setTimeout(() => {
    isLate = true;
    update();
  }, FIRST_CONNECTION);
  addEventListener("beforeunload", (event) => {
    if (!connection.online && connection.waitingChanges) event.preventDefault(); // they would be lost with the page
  });
  update();
  return slot;
}

function explanation() {
  const count = connection.waitingChanges;
  if (connection.refused) return count ? `${refused()} What you changed since is not saved.` : refused();
  const waiting = count ? ` ${plural(count, "change waits", "changes wait")}.` : "";
  return `${state()}${waiting}`;
}

function state() {
  if (connection.silent) return SILENT;
  if (connection.full) return FULL;
  return connection.stopped ? stopped() : RECONNECTING;
}
