// The session of this page with the server, over any number of WebSockets. hatbox/ui/page_frames.py describes the
// texts. Frames without an acknowledgement are sent again, duplicates are dropped. Knows no message but calls.

import {AnswerWatch} from "./answer_watch.js";
import {decodeText} from "./wire_values.js";

const CALL = "c";
const FIRST_DELAY = 100; // milliseconds
const MAX_DELAY = 5000;
const ACKNOWLEDGE_DELAY = 100;
const STABLE_TIME = 10_000; // a connection that was lost earlier does not reset the delay
const MAX_FRAME = 4_000_000; // characters; a larger message has its own frame
const MAX_TEXT = 32 * 2 ** 20; // bytes of a frame, as hatbox/ui/page_limits.py
const HEAD = 1024; // more than a frame has beside its messages
const TOO_LARGE = 1009; // the code with which a connection is closed because of a larger one

// open(): a new WebSocket. receive(messages): handles messages of the server. replay(): the messages for a server that
// does not know the session. onTooLarge(id, bytes): the server would not accept this call, which is not sent.
// onStatus(): `online` or `silent` has changed. onClosed(code): a connection was closed or not opened.
export class PageSession {
  constructor({id, key, open, receive, replay, onTooLarge, onStatus, onResync, onClosed}) {
    this.online = false;
    this.id = id;
    this.key = key; // of the server whose link has opened this page
    this.open = open;
    this.receive = receive;
    this.replay = replay;
    this.onTooLarge = onTooLarge;
    this.onStatus = onStatus;
    this.onResync = onResync;
    this.onClosed = onClosed;
    this.queued = []; // messages for the next frame
    this.frames = []; // without an acknowledgement: {number, lastCall, text}, with the JSON of the messages
    this.sent = 0; // the number of the last frame
    this.received = 0;
    this.acknowledged = 0;
    this.transmittedCalls = 0; // the highest id of a call that the server may have received
    this.secret = ""; // of this session, from the welcome
    this.wasOpen = false; // a connection was opened
    this.wasOnline = false;
    this.sentAhead = 0; // the number of the last frame that was sent before the welcome of this connection
    this.delay = FIRST_DELAY;
    this.timer = null;
    this.acknowledgeTimer = null;
    this.socket = null;
    this.since = 0; // when the connection was opened
    this.watch = new AnswerWatch({
      buffered: () => this.socket?.bufferedAmount ?? 0,
      onChange: () => { if (this.online) this.onStatus(); },
      onLost: () => this.abandon(),
    });
  }

  // Whether the server is connected, but has not acknowledged for a while what it was sent.
  get silent() {
    return this.watch.silent;
  }

  // Find out whether the server answers, unless that is being found out.
  probe() {
    if (!this.online || this.frames.length > 0) return;
    const frame = {number: ++this.sent, lastCall: 0, text: "[]"};
    this.frames.push(frame);
    this.transmit(frame);
  }

  // Send a message with the others of this turn, now or when the server is back.
  send(message) {
    this.queued.push(message);
    if (this.queued.length === 1) queueMicrotask(() => this.flush());
  }

  flush() {
    if (this.queued.length === 0) return;
    const frames = this.framesOf(this.queued);
    this.queued = [];
    this.frames.push(...frames);
    if (this.online) frames.forEach((frame) => this.transmit(frame));
  }

  // The messages in frames that the server accepts.
  framesOf(messages) {
    const frames = [];
    let texts = [], size = 0, lastCall = 0;
    const finish = () => {
      if (texts.length > 0) frames.push({number: ++this.sent, lastCall, text: `[${texts.join(",")}]`});
      [texts, size, lastCall] = [[], 0, 0];
    };
    for (const message of messages) {
      const text = JSON.stringify(message);
      if (this.isRefused(message, text)) continue;
      if (size + text.length > MAX_FRAME) finish();
      texts.push(text);
      size += text.length;
      if (message[0] === CALL) lastCall = Math.max(lastCall, message[1]);
    }
    finish();
    return frames;
  }

  // A call that is too large fails by itself: the server would close the connection, again and again.
  isRefused(message, text) {
    if (message[0] !== CALL || text.length * 3 <= MAX_TEXT - HEAD) return false; // a character has up to 3 bytes
    const bytes = bytesOf(text);
    if (bytes <= MAX_TEXT - HEAD) return false;
    this.onTooLarge(message[1], bytes);
    return true;
  }

  // The server accepts less than expected: what it does not accept is at least as large as any other call.
  refuseLargest() {
    const calls = this.frames.flatMap(callsIn);
    if (calls.length === 0) return;
    const {frame, id, bytes} = calls.reduce((one, other) => (other.bytes > one.bytes ? other : one));
    const others = JSON.parse(frame.text).filter(([kind, number]) => kind !== CALL || number !== id);
    frame.text = JSON.stringify(others); // it stays: the numbers of frames are consecutive
    this.onTooLarge(id, bytes);
  }

  // Connect now, and not after the delay.
  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.socket) return;
    const socket = this.open();
    this.socket = socket;
    socket.onopen = () => this.onOpen(socket);
    socket.onmessage = ({data}) => { if (socket === this.socket) this.onText(data); };
    socket.onclose = (event) => { if (socket === this.socket) this.onClose(event?.code); };
  }

  // The first connection is that of a new session: what is queued is sent without waiting for the welcome.
  onOpen(socket) {
    const hello = {session: this.id, received: this.received, calls: this.transmittedCalls, key: this.key};
    socket.send(JSON.stringify(hello));
    this.sentAhead = 0;
    if (this.wasOpen) return;
    this.wasOpen = true;
    this.flush();
    for (const frame of this.frames) this.transmit(frame);
    this.sentAhead = this.sent;
  }

  onText(text) {
    const value = decodeText(text);
    if (!this.online) {
      if (value.challenge) this.prove(value.challenge);
      else this.onWelcome(value);
      return;
    }
    const [number, acknowledged, messages] = value;
    this.drop(acknowledged);
    if (number !== this.received + 1) return; // a duplicate, or an acknowledgement alone
    this.received = number;
    this.acknowledgeTimer ??= setTimeout(() => this.acknowledge(), ACKNOWLEDGE_DELAY);
    this.receive(messages);
  }

  // The server was started again. The secret is never sent: a program that has the port meanwhile cannot learn it.
  async prove(challenge) {
    const socket = this.socket;
    const answer = this.secret ? await macOf(this.secret, challenge) : "";
    if (socket === this.socket) socket.send(JSON.stringify({answer}));
  }

  onWelcome({resumed, received, secret, key}) {
    this.secret = secret;
    this.key = key;
    this.flush();
    this.since = performance.now();
    const isNew = !resumed;
    if (this.sentAhead) {
      // the server has the frames before this one
    } else if (isNew) {
      this.sent = this.received = this.acknowledged = 0;
      this.frames = this.framesOf(this.replay());
    } else {
      this.drop(received);
    }
    this.online = true;
    if (this.frames.length > 0) this.watch.start();
    for (const frame of this.frames) if (frame.number > this.sentAhead) this.transmit(frame);
    const isBack = this.wasOnline;
    this.wasOnline = true;
    this.onStatus();
    if (isNew && isBack) this.onResync();
  }

  onClose(code) {
    this.socket = null;
    clearTimeout(this.acknowledgeTimer);
    this.acknowledgeTimer = null;
    const wasOnline = this.online;
    this.online = false;
    this.watch.stop();
    if (code === TOO_LARGE) this.refuseLargest();
    if (wasOnline && performance.now() - this.since > STABLE_TIME) this.delay = FIRST_DELAY;
    this.timer = setTimeout(() => this.connect(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, MAX_DELAY);
    if (wasOnline) this.onStatus();
    this.onClosed(code);
  }

  // Close a connection without an answer, and open another one. The browser would wait for the answer of the server.
  abandon() {
    const socket = this.socket;
    this.onClose();
    socket.close();
  }

  transmit({number, lastCall, text}) {
    this.transmittedCalls = Math.max(this.transmittedCalls, lastCall);
    this.write(number, text);
    if (this.online) this.watch.start();
  }

  acknowledge() {
    this.acknowledgeTimer = null;
    if (this.online && this.acknowledged < this.received) this.write(0, "[]");
  }

  write(number, text) {
    this.acknowledged = this.received;
    this.socket.send(`[${number},${this.received},${text}]`);
  }

  drop(number) {
    const before = this.frames.length;
    while (this.frames.length > 0 && this.frames[0].number <= number) this.frames.shift();
    if (this.online && this.frames.length < before) this.watch.answered(this.frames.length > 0);
  }
}

function callsIn(frame) {
  const calls = JSON.parse(frame.text).filter(([kind]) => kind === CALL);
  return calls.map((call) => ({frame, id: call[1], bytes: bytesOf(JSON.stringify(call))}));
}

function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}

// HMAC-SHA-256 in hexadecimal digits.
async function macOf(key, text) {
  const bytes = new TextEncoder();
  const algorithm = {name: "HMAC", hash: "SHA-256"};
  const imported = await crypto.subtle.importKey("raw", bytes.encode(key), algorithm, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes.encode(text)));
  return Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
