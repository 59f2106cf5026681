// The rules, live while a screen shows them.

import {browser} from "./api.js";
import {PartialList} from "./live_list.js";

class Rules extends PartialList {
  uses = new Map(); // number of a rule → when it decided last, as far as that is known

  // Only what shows the times reads them.
  async readUses() {
    const found = await browser.hatbox.rules.getLastUses().catch(console.error); // what is known stays
    if (found) this.uses = new Map(found.map(({rule, time}) => [rule, time]));
  }

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
