// The pipe to the host in a document of Chromium: messages leave through a CDP binding, and arrive as calls of `receive`.
// Knows no message by name. pages/cdp_connection.py is the other end.
// Messages of one turn travel as one text. Texts that the host has not acknowledged have a maximum total cost; the others
// wait here, in the memory of the document, so that a script that floods delays only itself.

import {createBatch} from "./message_batch.js";
import {NativeMap, mapDelete, mapGet, mapSet} from "./primordials.js";

const FLUSH_AT = 1 << 13; // characters of one text
const TEXT_COST = 1 << 17; // characters that each text counts in addition: two small ones are in flight
const WINDOW = 1 << 18; // the maximum cost of unacknowledged texts

// `post(text)` calls the binding; `spell(text)` replaces spellings in a text. If it is gated, texts wait until the host has
// called `receive` for the first time.
export function createPipe({post, spell = text => text, gated = false}) {
  let posted = 0; // the cost of all texts so far
  let acknowledged = gated ? -Infinity : 0;
  const waiting = new NativeMap(); // position → text
  let first = 0;
  let next = 0;
  let handle = null;

  function postText(text) {
    posted += TEXT_COST + text.length;
    post(text);
  }

  function postWaiting() {
    while (first < next && posted - acknowledged < WINDOW) {
      postText(mapGet(waiting, first));
      mapDelete(waiting, first++);
    }
  }

  const batch = createBatch(FLUSH_AT, written => {
    const text = spell(written);
    if (first === next && posted - acknowledged < WINDOW) postText(text);
    else mapSet(waiting, next++, text);
  });

  return {
    ...batch,
    start(handler) { handle = handler; },
    // Send a message before those that wait: the host ends a document that does not respond to its pings.
    sendFirst(message) { postText(`[${message}]`); },
    // The host calls it with a text, which may be empty, and the cost of all texts that it has received.
    receive(text, total) {
      acknowledged = total;
      if (first < next) postWaiting();
      if (text !== "") handle(text);
    },
  };
}
