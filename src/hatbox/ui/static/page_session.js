// The session of this page with the server, over any number of WebSockets. hatbox/ui/page_frames.py describes the
// texts. Frames without an acknowledgement are sent again, duplicates are dropped. Knows no message but calls.

import {decodeText} from "./wire_values.js";

const CALL = "c";
const FIRST_DELAY = 100; // milliseconds
const MAX_DELAY = 5000;
const ACKNOWLEDGE_DELAY = 100;

// open(): a new WebSocket. receive(messages): handles messages of the server. replay(): the messages for a server that
// does not know the session. onStatus(): `online` has changed. onClosed(code): a connection was closed or not opened.
export class PageSession {
  constructor({id, open, receive, replay, onStatus, onResync, onClosed}) {
    this.online = false;
    this.id = id;
    this.open = open;
    this.receive = receive;
    this.replay = replay;
    this.onStatus = onStatus;
    this.onResync = onResync;
    this.onClosed = onClosed;
    this.queued = []; // messages for the next frame
    this.frames = []; // without an acknowledgement: {number, messages}
    this.sent = 0; // the number of the last frame
    this.received = 0;
    this.acknowledged = 0;
    this.transmittedCalls = 0; // the highest id of a call that the server may have received
    this.wasOnline = false;
    this.delay = FIRST_DELAY;
    this.timer = null;
    this.acknowledgeTimer = null;
    this.socket = null;
  }

  // Send a message with the others of this turn, now or when the server is back.
  send(message) {
    this.queued.push(message);
    if (this.queued.length === 1) queueMicrotask(() => this.flush());
  }

  flush() {
    if (this.queued.length === 0) return;
    const frame = {number: ++this.sent, messages: this.queued};
    this.queued = [];
    this.frames.push(frame);
    if (this.online) this.transmit(frame);
  }

  // Connect now, and not after the delay.
  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.socket) return;
    const socket = this.open();
    this.socket = socket;
    socket.onopen = () => {
      const hello = {session: this.id, received: this.received, calls: this.transmittedCalls};
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = ({data}) => { if (socket === this.socket) this.onText(data); };
    socket.onclose = (event) => { if (socket === this.socket) this.onClose(event?.code); };
  }

  onText(text) {
    const value = decodeText(text);
    if (!this.online) {
      this.onWelcome(value);
      return;
    }
    const [number, acknowledged, messages] = value;
    this.drop(acknowledged);
    if (number !== this.received + 1) return; // a duplicate, or an acknowledgement alone
    this.received = number;
    this.acknowledgeTimer ??= setTimeout(() => this.acknowledge(), ACKNOWLEDGE_DELAY);
    this.receive(messages);
  }

  onWelcome({resumed, received}) {
    this.flush();
    this.delay = FIRST_DELAY;
    const isNew = !resumed;
    if (isNew) {
      this.sent = this.received = this.acknowledged = 0;
      const messages = this.replay();
      this.frames = messages.length ? [{number: ++this.sent, messages}] : [];
    } else {
      this.drop(received);
    }
    this.online = true;
    for (const frame of this.frames) this.transmit(frame);
    const isBack = this.wasOnline;
    this.wasOnline = true;
    this.onStatus(true);
    if (isNew && isBack) this.onResync();
  }

  onClose(code) {
    this.socket = null;
    clearTimeout(this.acknowledgeTimer);
    this.acknowledgeTimer = null;
    const wasOnline = this.online;
    this.online = false;
    this.timer = setTimeout(() => this.connect(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, MAX_DELAY);
    if (wasOnline) this.onStatus(false);
    this.onClosed(code);
  }

  transmit({number, messages}) {
    for (const [kind, id] of messages) {
      if (kind === CALL && id > this.transmittedCalls) this.transmittedCalls = id;
    }
    this.write(number, messages);
  }

  acknowledge() {
    this.acknowledgeTimer = null;
    if (this.online && this.acknowledged < this.received) this.write(0, []);
  }

  write(number, messages) {
    this.acknowledged = this.received;
    this.socket.send(JSON.stringify([number, this.received, messages]));
  }

  drop(number) {
    while (this.frames.length > 0 && this.frames[0].number <= number) this.frames.shift();
  }
}
