// Messages of the host, each handled as a task of its own would be where a script can tell: what a listener or an answer
// has set going is done before the next event is told. Messages that come together and hold no events are handled at once.

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

  let last = null; // the message that was handled last of those that have come in this go

  // `fresh`: the jobs of all messages before these have run. They have not where two frames have come with one read.
  function receive(messages, fresh) {
    let i = 0;
    if (first === next) {
      if (fresh || !apart(last, messages[0])) {
        do handle(last = messages[i++]); while (i < messages.length && !apart(last, messages[i]));
      }
    }
    keep(messages, i);
  }

  // Keep the messages from this one on until what runs now is done.
  function keep(messages, i) {
    if (first === next && i < messages.length) later(drain);
    for (; i < messages.length; i++) mapSet(waiting, next++, messages[i]);
  }

  receive.later = messages => { keep(messages, 0); };
  return receive;
}
