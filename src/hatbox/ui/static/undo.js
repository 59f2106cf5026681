// Do, then undo: every change is recorded with the function that reverts it, at the place of its start.

import {resultOf} from "./attempt.js";
import {say} from "./dom.js";
import {toast, undoFailed} from "./toasts.js";
import {UndoHistory} from "./undo_history.js";
import {canTryAgain} from "./undo_words.js";

const PATIENCE = 300; // ms after which a key press without a visible effect is explained
const WAITS = "This change still waits. It is undone as soon as it is done.";

const history = new UndoHistory();
let running = Promise.resolve();

// Runs a change that can be undone. change(done) is async, and calls done(message, undo, options) when it has worked:
// these are the arguments of changed(). Ctrl+Z while it waits is for this change, and not for an older one.
export async function undoable(change) {
  const entry = history.add(null);
  entry.settled = new Promise((resolve) => (entry.settle = resolve));
  try {
    return await change((...given) => record(entry, ...given));
  } finally {
    if (!entry.undo) history.take(entry);
    entry.settle();
  }
}

// Records a change that is done, and shows its toast. undo: async, rejects with the reason when it does not work.
// whileToast: the change can be undone only as long as its toast is shown; Ctrl+Z then passes over it.
// quiet: no toast. onExpire: called when the change can no longer be undone because its toast is gone.
// subject: what the undo needs, for example the entry of the trash; see forgetChanges.
export function changed(message, undo, options) {
  record(history.add(undo), message, undo, options);
}

function record(entry, message, undo, {whileToast = false, quiet = false, onExpire, subject} = {}) {
  Object.assign(entry, {undo, whileToast, onExpire, subject});
  entry.settle?.();
  if (quiet || entry.isTaken) return;
  const undone = () => history.take(entry) && revert(entry);
  entry.closeToast = toast(message, undone, {closed: () => expire(entry), isOnlyUndo: whileToast});
}

function expire(entry) {
  if (entry.whileToast && history.take(entry)) entry.onExpire?.();
}

// Undoes the newest change that still can be. If it is not done yet, it is undone afterwards; if it does not work,
// nothing is undone.
export function undoLast() {
  const entry = history.takeLast();
  if (!entry) return running;
  entry.isTaken = true;
  entry.closeToast?.(); // only its own: that of another change may be the only way to undo that one
  if (!entry.undo) explain(entry);
  return revert(entry);
}

async function explain(entry) {
  let close = null;
  const timer = setTimeout(() => (close = toast(WAITS)), PATIENCE);
  await entry.settled;
  clearTimeout(timer);
  close?.();
}

// What some changes need for their undo was deleted: Ctrl+Z passes over them, and their toasts end.
// isGone(subject) says which.
export function forgetChanges(isGone) {
  for (const entry of history.forget(isGone)) entry.closeToast?.();
}

// One after the other: an undo may depend on that of a later change.
function revert(entry) {
  running = running.then(async () => {
    await entry.settled;
    if (!entry.undo) return; // it did not work, and has said why
    try {
      await resultOf(entry.undo());
      say("Undone");
    } catch (error) {
      onFailure(entry, error);
    }
  });
  return running;
}

// The change stays in the history, until the user dismisses the message: else Ctrl+Z would not get beyond it.
function onFailure(entry, error) {
  const text = `This could not be undone. ${error.message}`;
  if (!canTryAgain(error)) {
    undoFailed(text);
    return;
  }
  entry.isTaken = false;
  history.putBack(entry);
  entry.closeToast = undoFailed(text, {
    again: () => history.take(entry) && revert(entry),
    dismissed: () => history.take(entry) && entry.onExpire?.(),
    closed: () => expire(entry),
    isOnlyUndo: entry.whileToast,
  });
}
