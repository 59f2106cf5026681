// A change that the user makes: sent once, with a sign while it waits, and with its error beside the control.

import {connection} from "./api.js";
import {notice, problem, toast} from "./layers.js";

const WAITING = "Waiting for Hatbox. This is sent once, when it is back.";
const DONE = "Done. It cannot be undone here, because Hatbox was started again.";

const underWay = new Set(); // controls and keys of changes that are not finished

// Runs change(), which is async. Resolves with whether it took effect. anchor: an element, or a function that returns
// it because the row may be drawn anew meanwhile. Options:
//   control  the button that must not be pressed again meanwhile. It is shown as disabled; when Hatbox is not
//            reachable, a notice beside it says that the change waits.
//   key      a text in place of `control`, for rows that are drawn anew: a second change with it is ignored.
//   done     the text of the toast for a change that took effect, but whose result (and Undo) is lost.
//   onError  (error): shows the error where the form has a place for it. Without it, it appears at the anchor.
export async function attempt(anchor, change, {control = null, key = control, done = DONE, onError = null} = {}) {
  if (key && underWay.has(key)) return false;
  const release = occupy(key, control);
  try {
    await change();
    return true;
  } catch (error) {
    release();
    if (error.wasDone) {
      toast(done);
      return true;
    }
    if (onError) onError(error);
    else problem(typeof anchor === "function" ? anchor() : anchor, error.message);
    return false;
  } finally {
    release();
  }
}

// The result of a call; null if the call took effect, but its result is lost because Hatbox was killed before it
// answered. The caller then goes on as after a success: it says what was done without details, and offers Undo only if
// that needs nothing of the result. Lists are read again anyway when Hatbox is back.
export async function resultOf(call) {
  try {
    return await call;
  } catch (error) {
    if (error.wasDone) return null;
    throw error;
  }
}

// Marks a control as busy. Returns a function that ends it.
function occupy(key, control) {
  if (key) underWay.add(key);
  const stopSign = control ? showSign(control) : () => {};
  return () => {
    underWay.delete(key);
    stopSign();
  };
}

function showSign(control) {
  let shown = null;
  const hide = () => {
    shown?.hidePopover();
    shown = null;
  };
  control.setAttribute("aria-disabled", "true");
  const stop = followWaiting((text) => {
    if (text) shown ??= notice(control, text);
    else hide();
  });
  return () => {
    stop();
    control.removeAttribute("aria-disabled");
    hide();
  };
}

// fn(text), now and when it changes: the text that says that changes wait, null while Hatbox is reachable.
// Returns a function that ends it.
export function followWaiting(fn) {
  const update = () => fn(connection.online ? null : WAITING);
  const stop = connection.onStatus(update);
  update();
  return stop;
}
