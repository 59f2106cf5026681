// Names of identities as the page shows them. Other programs may give any name, also one without visible text. Pure.

import {withoutControls} from "./sentences.js";

const INVISIBLE = /^[\p{White_Space}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

export function hasVisibleText(name) {
  return !INVISIBLE.test(name);
}

// The identity with the name that is shown: without overrides of the direction, so that it reads the same everywhere,
// and the id in place of a name without visible text (isUnnamed). storedName is then the name that it has.
export function named(identity) {
  const isUnnamed = !hasVisibleText(identity.name);
  const name = isUnnamed ? identity.cookieStoreId : withoutControls(identity.name);
  return name === identity.name ? identity : {...identity, name, storedName: identity.name, isUnnamed};
}
