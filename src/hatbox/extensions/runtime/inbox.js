// Messages of the host, each handled as a task of its own would be where a script can tell: what a listener or an answer
// has set going is done before the next event is told. A frame that holds no events is handled at once.

import {NativeMap, mapDelete, mapGet, mapSet} from "./primordials.js";

// `handle` takes a message; `later` calls a function outside of all promise jobs; `settle` runs the jobs that wait.
export function createInbox({handle, later, settle}) {
  const waiting = new NativeMap(); // position → message
  let first = 0;
  let next = 0;

  const isEvent = message => message[0] === "e" || message[0] === "w";
  const apart = (one, other) => isEvent(one) || isEvent(other);

  function drain() {
    while (first < next) {
      const message = mapGet(waiting, first);
      mapDelete(waiting, first++);
      handle(message);
      if (settle === null && first < next) return later(drain);
      settle?.();
    }
  }

  return function receive(messages) {
    let i = 0;
    if (first === next) {
      do handle(messages[i++]); while (i < messages.length && !apart(messages[i - 1], messages[i]));
      if (i < messages.length) later(drain);
    }
    for (; i < messages.length; i++) mapSet(waiting, next++, messages[i]);
  };
}
