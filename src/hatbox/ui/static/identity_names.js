// Names of identities as the page shows them. Other programs may give any name, also one without visible text. Pure.

const INVISIBLE = /^[\p{White_Space}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

export function hasVisibleText(name) {
  return !INVISIBLE.test(name);
}

// The identity with its id in place of a name without visible text. storedName is then the name that it has.
export function named(identity) {
  if (hasVisibleText(identity.name)) return identity;
  return {...identity, name: identity.cookieStoreId, storedName: identity.name};
}
