// The rules, live while a screen shows them.

import {browser} from "./api.js";
import {WholeList} from "./live_list.js";

class Rules extends WholeList {
  // fn() after each change, not now.
  onChange(fn) {
    let isFirst = true;
    return this.follow(() => {
      if (isFirst) isFirst = false;
      else fn();
    });
  }

  // All rules, the newest first.
  all() {
    return [...this.found].reverse();
  }
}

export const rules = new Rules(browser.hatbox.rules);
