// The pipe to the host: reads frames from stdin, and writes messages to stdout. Knows no message by name.
// Frames are read between scripts. While the pipe is paused, only `wait` reads.

import {
  Buffer, Bytes, decodeText, decoder, encodeInto, encodeText, encoder, promiseThen, setBytes, soon,
} from "./primordials.js";
import {createBatch} from "./message_batch.js";

const HEADER = 4;
const ROOM = 1 << 16;
const FLUSH_AT = 1 << 13; // characters: a larger batch is sent at once, so that the host works while the script continues

export function createPipe({read, readSync, write, exit}) {
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

  const batch = createBatch(FLUSH_AT, text => {
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
  });

  const inBuffer = new Buffer(ROOM);
  const inBytes = new Bytes(inBuffer);
  let have = 0; // unhandled bytes in inBytes
  let large = null; // a frame that does not fit into inBytes, and the number of bytes received of it
  let largeHave = 0;

  let reading = false;
  let paused = false;

  function onRead(size) {
    reading = false;
    take(size);
    soon(pump); // after the microtasks of this frame, so that their calls are sent before the next read
  }

  function take(size) {
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

  function room() {
    return large !== null ? new Bytes(large.buffer, largeHave) : have === 0 ? inBytes : new Bytes(inBuffer, have);
  }

  function pump() {
    if (reading || paused) return;
    reading = true;
    promiseThen(read(room()), onRead, () => exit(1));
  }

  // Block and pass the texts of frames to `receiver` until it returns true.
  function wait(receiver) {
    const usual = receive;
    let done = false;
    receive = text => { done = receiver(text) || done; };
    try {
      while (!done) take(readOrExit());
    } finally {
      receive = usual;
    }
  }

  function readOrExit() {
    try {
      return readSync(room());
    } catch {
      return exit(1);
    }
  }

  return {
    ...batch, wait,
    // Call it only while a frame is received: at any other time a read is pending.
    pause() { paused = true; },
    resume() {
      paused = false;
      pump();
    },
    start(receiver) {
      receive = receiver;
      pump();
    },
  };
}
