// Whether an undo that failed can work later, from its error, and what an undo has not undone. Pure.

import {plural} from "./numbers.js";

// Classes of errors of the server: what the undo needs does not exist any more.
const GONE = new Set(
  "InvalidIdentity IdentityNotFound NotInTrash SiteRuleNotFound InvalidTab ExtensionNotFound UndoExpired".split(" "),
);
const IMPOSSIBLE = "UndoImpossible";

// An error of an undo that will not work later either.
export function impossible(message) {
  return Object.assign(new Error(message), {kind: IMPOSSIBLE});
}

export function canTryAgain({kind}) {
  return kind !== IMPOSSIBLE && !GONE.has(kind);
}

// What stays after the undo of an import; empty if nothing does.
export function importUndoText({identities, cookies, origins}) {
  const parts = [
    identities && `${plural(identities, "new identity", "new identities")} with other cookies or tabs since`,
    cookies && `${plural(cookies, "cookie")} set again since`,
    origins && `data of ${plural(origins, "site")}, changed since or open in a browser`,
  ].filter(Boolean);
  return parts.length ? `Not all was undone. These stay: ${parts.join("; ")}.` : "";
}
