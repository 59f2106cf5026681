// The cookie store of pages without an identity, shown like an identity without a color.

import {identities} from "./identities_state.js";

export const NO_IDENTITY = {
  cookieStoreId: "firefox-default",
  name: "No identity",
  color: null,
  icon: "circle",
  hidden: false,
};

// The identity of a cookie store; undefined if it does not exist.
export function ownerOf(cookieStoreId) {
  return cookieStoreId === NO_IDENTITY.cookieStoreId ? NO_IDENTITY : identities.get(cookieStoreId);
}
