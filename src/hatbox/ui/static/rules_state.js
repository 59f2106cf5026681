// The rules, live while a screen shows them.

import {browser} from "./api.js";
import {LiveList} from "./live_list.js";

const api = browser.hatbox.rules;
let found = [];

const list = new LiveList(api.onChanged, async () => {
  found = await api.list();
});

export const rules = {
  get loaded() {
    return list.loaded;
  },
  get error() {
    return list.error;
  },
  follow: (fn) => list.follow(fn),
  reload: () => list.reload(),

  // fn() after each change, not now.
  onChange(fn) {
    let isFirst = true;
    return list.follow(() => {
      if (isFirst) isFirst = false;
      else fn();
    });
  },

  // All rules, the newest first.
  all() {
    return [...found].reverse();
  },
};
