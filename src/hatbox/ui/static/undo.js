// Do, then undo: every change that worked is recorded with the function that reverts it.

import {say} from "./dom.js";
import {toast, undoFailed} from "./toasts.js";
import {UndoHistory} from "./undo_history.js";

const history = new UndoHistory();
let running = Promise.resolve();

// Records a change and shows its toast. undo: async, rejects with the reason when it is no longer possible.
// while_toast: the change can be undone only as long as its toast is shown; Ctrl+Z then passes over it.
// quiet: no toast. onExpire: called when the change can no longer be undone because its toast is gone.
export function changed(message, undo, {while_toast = false, quiet = false, onExpire} = {}) {
  const entry = history.add(undo);
  if (quiet) return;
  const expire = () => {
    if (while_toast && history.take(entry)) onExpire?.();
  };
  const undone = () => history.take(entry) && revert(entry);
  entry.closeToast = toast(message, undone, {closed: expire, isOnlyUndo: while_toast});
}

// Undoes the newest change that still can be.
export function undoLast() {
  const entry = history.takeLast();
  if (!entry) return running;
  entry.closeToast?.(); // only its own: that of another change may be the only way to undo that one
  return revert(entry);
}

// One after the other: an undo may depend on that of a later change.
function revert(entry) {
  running = running.then(async () => {
    try {
      await entry.undo();
      say("Undone");
    } catch (error) {
      if (error.wasDone) say("Undone");
      else undoFailed(`This could not be undone. ${error.message}`);
    }
  });
  return running;
}
