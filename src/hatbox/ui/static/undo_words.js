// Whether an undo that failed can work later, from its error. Pure.

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
