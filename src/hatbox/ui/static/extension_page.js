// An open popup or options page of an extension. It is in a window of Chromium, not on this page: here are the words
// where, and what closes it.

import {browser} from "./api.js";
import {btn, errorLine, h, say} from "./dom.js";
import {popover, toast} from "./layers.js";

const api = browser.hatbox.extensions;
const NAMES = {popup: "popup", options: "options page"};

const closed = new Set(); // id and page of those that closed since they were requested
const shown = new Map(); // id and page → what hides their popover
let isFollowing = false;

function onClosed({id, page}) {
  const key = `${id} ${page}`;
  closed.add(key);
  shown.get(key)?.();
}

// Is called before a page is requested: one that closes itself at once must not be shown as open.
export function expectPage(id, page) {
  if (!isFollowing) api.onPageClosed.addListener(onClosed);
  isFollowing = true;
  closed.delete(`${id} ${page}`);
}

// Shows where the page is, at the button that opened it. The browser may have taken seconds to start: a user who has
// gone on to something else is not disturbed.
export async function showOpenPage(anchor, {id, name, machine}, page) {
  const key = `${id} ${page}`;
  const place = await placeOf(machine);
  if (closed.has(key)) return;
  const active = document.activeElement;
  const isThere = anchor.isConnected && (active === anchor || active === document.body);
  if (!isThere) return toast(`The ${NAMES[page]} of ${name} is open in ${place}.`);
  const wrong = h("div", {});
  const front = btn("Bring to front", () => run(api.bringPageToFront(id, page)), {kind: "sm"});
  const close = btn(`Close ${NAMES[page]}`, () => run(api.closePage(id, page)), {kind: "sm quiet"});
  const text = h("p", {}, `Its ${NAMES[page]} is open in a window of ${place}.`);
  const body = h("div", {class: "page"}, text, wrong, h("div", {class: "actions"}, front, close));
  const content = [h("header", {}, `Page of ${name}`), body];
  const pop = popover(anchor, content, {cls: "ext-pop", label: `Page of ${name}`, role: "dialog"});
  const hide = () => {
    say(`The ${NAMES[page]} of ${name} is closed.`, "polite");
    pop.hidePopover();
  };
  shown.set(key, hide);
  pop.addEventListener("toggle", ({newState}) => {
    if (newState === "closed" && shown.get(key) === hide) shown.delete(key);
  });
  front.focus();

  async function run(call) {
    wrong.replaceChildren();
    try {
      await call;
    } catch (error) {
      wrong.replaceChildren(errorLine(error.message));
    }
  }
}

// Bringing a window to the front helps only where its screen is.
async function placeOf(machine) {
  try {
    const here = (await browser.hatbox.getProfile()).machine;
    return machine && machine !== here ? `Chromium on ${machine}` : "Chromium";
  } catch {
    return "Chromium";
  }
}
