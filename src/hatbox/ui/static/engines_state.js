// The engines that run and those that can be started, live while something follows them.

import {browser} from "./api.js";
import {startOutcome} from "./engine_outcome.js";
import {WholeList} from "./live_list.js";
import {sentence} from "./sentences.js";

export const engines = new WholeList(browser.hatbox.engines);

// What is said about a tab that was opened just before Hatbox was killed: its engine may not have been started.
export const lostTabText = (name) => sentence`A tab is open as ${name}. If it has no window, open it in Tabs.`;

// Resolves when the engine runs that was just started, with it, or with null when it has ended again. Rejects with the
// reason when it cannot start. tabId: the tab for which it was started; name: of the engine, when no tab is known.
export function engineStarted({tabId, name = "chromium"}) {
  return new Promise((resolve, reject) => {
    let isFresh = false; // what is known may be older than the start
    let isOver = false;
    const settle = (fn, value) => {
      isOver = true;
      stop();
      fn(value);
    };
    const check = () => {
      if (isOver || !isFresh) return;
      const outcome = startOutcome(engines.all(), {tabId, name});
      if (outcome && "error" in outcome) settle(reject, new Error(outcome.error));
      else if (outcome) settle(resolve, outcome.running ?? null);
    };
    const stop = engines.follow(check);
    engines.reload().then(() => {
      isFresh = true;
      check();
    });
  });
}
