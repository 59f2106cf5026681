// The details of one identity, live, for all parts of its page: one read at a time, so that no old answer is shown
// after a newer one.

import {browser} from "./api.js";
import {identities} from "./identities_state.js";
import {LiveList} from "./live_list.js";

const MOST = 20; // identities whose details stay known
const known = new Map(); // cookieStoreId → IdentityDetails

export function detailsOf(cookieStoreId) {
  if (!known.has(cookieStoreId)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    known.set(cookieStoreId, new IdentityDetails(cookieStoreId));
  }
  return known.get(cookieStoreId);
}

class IdentityDetails extends LiveList {
  constructor(id) {
    super(changesOf(id), async () => {
      const found = await browser.hatbox.identities.details(id);
      if (!this.isStale && !this.waiting.length) this.value = found; // else it is older than a change
    });
    this.value = null; // the answer of hatbox.identities.details
  }

  // Settings that were just saved.
  saved(settings) {
    if (this.value) this.value = {...this.value, settings, settingsError: null};
    this.reload();
  }
}

// The changes of one identity as an event.
function changesOf(id) {
  let stop = null;
  return {
    addListener(fn) {
      stop = identities.onChange(({changed, all}) => (all || changed.has(id)) && identities.get(id) && fn({all: true}));
    },
    removeListener: () => stop?.(),
  };
}
