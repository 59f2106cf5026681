// Orders the messages of the host as tasks: the microtasks of a message run before the next event is dispatched.
// Messages that are received together and contain no events are handled at once.

import {NativeMap, mapDelete, mapGet, mapSet} from "./primordials.js";
import {EVENT, SOCKET} from "./protocol.js";

// `handle` handles a message; `later` calls a function after all microtasks; `settle` runs the pending microtasks.
export function createInbox({handle, later, settle}) {
  const waiting = new NativeMap(); // position → message
  let first = 0;
  let next = 0;

  const isEvent = message => message[0] === EVENT || message[0] === SOCKET;
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

  let last = null; // the last handled message of this read

  // `fresh`: the microtasks of all earlier messages have run. False for the second frame of one read.
  function receive(messages, fresh) {
    let i = 0;
    if (first === next) {
      if (fresh || !apart(last, messages[0])) {
        do handle(last = messages[i++]); while (i < messages.length && !apart(last, messages[i]));
      }
    }
    enqueue(messages, i);
  }

  // Queue the messages from index `i` on until the current task has ended.
  function enqueue(messages, i) {
    if (first === next && i < messages.length) later(drain);
    for (; i < messages.length; i++) mapSet(waiting, next++, messages[i]);
  }

  receive.later = messages => { enqueue(messages, 0); };
  return receive;
}
