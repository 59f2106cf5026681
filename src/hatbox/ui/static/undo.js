// Do, then undo: every change that worked is recorded with the function that reverts it.

import {resultOf} from "./attempt.js";
import {say} from "./dom.js";
import {toast, undoFailed} from "./toasts.js";
import {UndoHistory} from "./undo_history.js";

const history = new UndoHistory();
let running = Promise.resolve();

// Records a change and shows its toast. undo: async, rejects with the reason when it is no longer possible.
// whileToast: the change can be undone only as long as its toast is shown; Ctrl+Z then passes over it.
// quiet: no toast. onExpire: called when the change can no longer be undone because its toast is gone.
// subject: what the undo needs, for example the entry of the trash; see forgetChanges.
export function changed(message, undo, {whileToast = false, quiet = false, onExpire, subject} = {}) {
  const entry = history.add(undo, subject);
  if (quiet) return;
  const expire = () => {
    if (whileToast && history.take(entry)) onExpire?.();
  };
  const undone = () => history.take(entry) && revert(entry);
  entry.closeToast = toast(message, undone, {closed: expire, isOnlyUndo: whileToast});
}

// Undoes the newest change that still can be.
export function undoLast() {
  const entry = history.takeLast();
  if (!entry) return running;
  entry.closeToast?.(); // only its own: that of another change may be the only way to undo that one
  return revert(entry);
}

// What some changes need for their undo was deleted: Ctrl+Z passes over them, and their toasts end.
// isGone(subject) says which.
export function forgetChanges(isGone) {
  for (const entry of history.forget(isGone)) entry.closeToast?.();
}

// One after the other: an undo may depend on that of a later change.
function revert(entry) {
  running = running.then(async () => {
    try {
      await resultOf(entry.undo());
      say("Undone");
    } catch (error) {
      undoFailed(`This could not be undone. ${error.message}`);
    }
  });
  return running;
}
