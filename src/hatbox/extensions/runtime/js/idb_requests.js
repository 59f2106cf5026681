// IDBRequest and IDBOpenDBRequest.

import {OURS, finishClass, requireOurs, setState, stateOf} from "./idb_classes.js";
import {NOT_USABLE, idbError} from "./idb_errors.js";
import {IdbTarget, addHandlers} from "./idb_events.js";

export class IDBRequest extends IdbTarget {
  constructor(ours, state) {
    requireOurs(ours);
    super();
    setState(this, state);
  }

  get result() { return settled(this).result; }
  get error() { return settled(this).error; }
  get source() { return stateOf(this).source; }
  get transaction() { return stateOf(this).transaction; }
  get readyState() { return stateOf(this).isDone ? "done" : "pending"; }
}
finishClass(IDBRequest);
addHandlers(IDBRequest, ["success", "error"]);

export class IDBOpenDBRequest extends IDBRequest {}
finishClass(IDBOpenDBRequest);
addHandlers(IDBOpenDBRequest, ["blocked", "upgradeneeded"]);

function settled(request) {
  const state = stateOf(request);
  if (!state.isDone) throw idbError("InvalidStateError", NOT_USABLE);
  return state;
}

// A request, with `object` for scripts. `run` computes its result; it may throw a DOMException.
export function createRequest(Class, source, transaction, run) {
  const state = {__proto__: null, source, transaction, run, isDone: false, result: undefined, error: null, object: null};
  state.object = new Class(OURS, state);
  return state;
}

export function resolve(request, result) {
  request.isDone = true;
  request.result = result;
  request.error = null;
}

export function reject(request, error) {
  request.isDone = true;
  request.result = undefined;
  request.error = error;
}
