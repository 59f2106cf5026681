// The exceptions of IndexedDB, with the words of Firefox.

import {NativeDOMException} from "./primordials.js";

const TEXTS = {
  __proto__: null,
  AbortError: "A request was aborted, for example through a call to IDBTransaction.abort.",
  ConstraintError: "A mutation operation in the transaction failed because a constraint was not satisfied.",
  DataError: "Data provided to an operation does not meet requirements.",
  InvalidAccessError: "A parameter or an operation is not supported by the underlying object",
  InvalidStateError: "A mutation operation was attempted on a database that did not allow mutations.",
  NotFoundError: "The operation failed because the requested database object could not be found. For example, an object store did not exist but was being opened.",
  QuotaExceededError: "The current transaction exceeded its quota limitations.",
  ReadOnlyError: "A mutation operation was attempted in a READ_ONLY transaction.",
  SyntaxError: "An invalid or illegal string was specified",
  TransactionInactiveError: "A request was placed against a transaction which is currently not active, or which is finished.",
  UnknownError: "The operation failed for reasons unrelated to the database itself and not covered by any other error code.",
  VersionError: "The operation failed because the stored database is a higher version than the version requested.",
};

export const NOT_USABLE = "An attempt was made to use an object that is not, or is no longer, usable";

export function idbError(name, text = TEXTS[name]) {
  return new NativeDOMException(text, name);
}
