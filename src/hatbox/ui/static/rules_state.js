// The rules, live while a screen shows them.

import {browser} from "./api.js";
import {PartialList} from "./live_list.js";

class Rules extends PartialList {
  // fn() after each change, not now.
  onChange(fn) {
    let isFirst = true;
    return this.follow(() => {
      if (isFirst) isFirst = false;
      else fn();
    });
  }
}

export const rules = new Rules(browser.hatbox.rules, {
  key: (rule) => rule.id,
  compare: (one, other) => other.id - one.id, // the newest first
});
