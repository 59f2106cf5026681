// Buffers messages as one string, which scripts cannot modify, until the turn of the event loop ends or it is long.

import {soon} from "./primordials.js";

// `write(text)` gets a JSON array of messages. A batch of more than `limit` characters is written at once.
export function createBatch(limit, write) {
  let buffered = "";
  let scheduled = false;

  function flush() {
    scheduled = false;
    if (buffered === "") return;
    const text = `[${buffered}]`;
    buffered = "";
    write(text);
  }

  // `message` is the JSON text of one message.
  function send(message) {
    buffered = buffered === "" ? message : `${buffered},${message}`;
    if (buffered.length > limit) flush();
    else if (!scheduled) {
      scheduled = true;
      soon(flush);
    }
  }

  function sendNow(message) {
    buffered = buffered === "" ? message : `${buffered},${message}`;
    flush();
  }

  return {flush, send, sendNow};
}
