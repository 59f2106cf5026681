// The pipe to the host: frames out of stdin, messages into stdout. Knows no message by name.
// What is to be sent is kept as one string, which no script can reach into, and goes out when `flush` says so.

import {
  Buffer, Bytes, decodeText, decoder, encodeInto, encodeText, encoder, promiseThen, setBytes, soon,
} from "./primordials.js";

const HEADER = 4;
const ROOM = 1 << 16;
const FLUSH_AT = 1 << 13; // characters: beyond this a batch goes out at once, and the host works while the script goes on asking

export function createPipe({read, write, exit}) {
  let waiting = "";
  let scheduled = false;
  let receive = null;

  const outBuffer = new Buffer(ROOM);
  const outBytes = new Bytes(outBuffer);
  const outText = new Bytes(outBuffer, HEADER);

  function writeAll(bytes, buffer, size) {
    let done = write(size === bytes.length ? bytes : new Bytes(buffer, 0, size));
    while (done < size) done += write(new Bytes(buffer, done, size - done));
  }

  function setLength(bytes, size) {
    bytes[0] = size;
    bytes[1] = size >>> 8;
    bytes[2] = size >>> 16;
    bytes[3] = size >>> 24;
  }

  function flush() {
    scheduled = false;
    if (waiting === "") return;
    const text = `[${waiting}]`;
    waiting = "";
    if (text.length * 3 <= ROOM - HEADER) {
      const size = encodeInto(encoder, text, outText).written;
      setLength(outBytes, size);
      writeAll(outBytes, outBuffer, HEADER + size);
    } else {
      const payload = encodeText(encoder, text);
      const frame = new Buffer(HEADER + payload.length);
      const bytes = new Bytes(frame);
      setLength(bytes, payload.length);
      setBytes(bytes, payload, HEADER);
      writeAll(bytes, frame, bytes.length);
    }
  }

  // `message` is the JSON text of one message.
  function send(message) {
    waiting = waiting === "" ? message : `${waiting},${message}`;
    if (waiting.length > FLUSH_AT) flush();
    else if (!scheduled) {
      scheduled = true;
      soon(flush);
    }
  }

  function sendNow(message) {
    waiting = waiting === "" ? message : `${waiting},${message}`;
    flush();
  }

  const inBuffer = new Buffer(ROOM);
  const inBytes = new Bytes(inBuffer);
  let have = 0; // bytes in inBytes that are not yet taken
  let large = null; // a frame that does not fit into inBytes: its bytes, and how many of them are there
  let largeHave = 0;

  function onRead(size) {
    if (size === null) return exit(0);
    if (large !== null) {
      largeHave += size;
      if (largeHave === large.length) {
        const bytes = large;
        large = null;
        receive(decodeText(decoder, bytes), true);
      }
    } else {
      have += size;
      takeFrames();
    }
    soon(pump); // whoever awaited this answer asks the next question first, and the host need not wait for our read
  }

  function takeFrames() {
    let start = 0;
    while (have - start >= HEADER) {
      const size = (inBytes[start] | inBytes[start + 1] << 8 | inBytes[start + 2] << 16 | inBytes[start + 3] << 24) >>> 0;
      const end = start + HEADER + size;
      if (end > have) {
        if (HEADER + size > ROOM) {
          large = new Bytes(size);
          largeHave = have - start - HEADER;
          setBytes(large, new Bytes(inBuffer, start + HEADER, largeHave));
          have = start = 0;
        }
        break;
      }
      receive(decodeText(decoder, new Bytes(inBuffer, start + HEADER, size)), start === 0);
      start = end;
    }
    if (start > 0) {
      setBytes(inBytes, new Bytes(inBuffer, start, have - start));
      have -= start;
    }
  }

  function pump() {
    const target = large !== null
      ? new Bytes(large.buffer, largeHave)
      : have === 0 ? inBytes : new Bytes(inBuffer, have);
    promiseThen(read(target), onRead, () => exit(1));
  }

  return {
    flush, send, sendNow,
    start(receiver) {
      receive = receiver;
      pump();
    },
  };
}
