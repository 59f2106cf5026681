// WebSocket: the host makes the connections, for the same reason as those of fetch(). Messages to and from the host name
// a socket by its number. Each side sends at most a window of unacknowledged bytes.

import {
  NativeDOMException, NativeMap, NativeTypeError, append, apply, create, defineValue, encodeText, encoder, getOwnPropertyDescriptor, getPrototypeOf,
  indexOf, mapDelete, mapGet, mapSet, ownKeys, promiseThen, regExpExec, stringify, uncurryThis,
} from "./primordials.js";
import {SOCKET} from "./protocol.js";

const {Blob: NativeBlob, URL: NativeUrl, Event: NativeEvent, MessageEvent: NativeMessageEvent, CloseEvent: NativeCloseEvent} = globalThis;
const NativeEventTarget = EventTarget;
const Bytes = Uint8Array;
const getter = (prototype, name) => uncurryThis(getOwnPropertyDescriptor(prototype, name).get);
const typedArray = getPrototypeOf(Uint8Array.prototype);
const viewParts = {
  __proto__: null,
  typed: [getter(typedArray, "buffer"), getter(typedArray, "byteOffset"), getter(typedArray, "byteLength")],
  view: [getter(DataView.prototype, "buffer"), getter(DataView.prototype, "byteOffset"), getter(DataView.prototype, "byteLength")],
};
const typedTag = getter(typedArray, Symbol.toStringTag);
const {isView} = ArrayBuffer;
const blobBytes = uncurryThis(NativeBlob.prototype.arrayBuffer);
const blobSize = getter(NativeBlob.prototype, "size");
const urlHref = getter(NativeUrl.prototype, "href");
const urlHost = getter(NativeUrl.prototype, "host");
const urlProtocol = getter(NativeUrl.prototype, "protocol");
const setUrlProtocol = uncurryThis(getOwnPropertyDescriptor(NativeUrl.prototype, "protocol").set);
const addEventListener = uncurryThis(NativeEventTarget.prototype.addEventListener);
const dispatchEvent = uncurryThis(NativeEventTarget.prototype.dispatchEvent);
const toBase64 = uncurryThis(Uint8Array.prototype.toBase64);
const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
const typedBuffer = viewParts.typed[0];
const toWellFormed = uncurryThis(String.prototype.toWellFormed);
const {iterator} = Symbol;
const toNumber = Number;

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
const STATES = {__proto__: null, CONNECTING, OPEN, CLOSING, CLOSED};
const WINDOW = 1 << 20; // bytes passed to the host and not sent yet, as in sockets.py
const MESSAGE_OVERHEAD = 64; // bytes that each message counts in addition, which limits the number of empty ones
const MAX_REASON_BYTES = 123;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const SHOWN = ["close", "send", "url", "readyState", "bufferedAmount", "extensions", "protocol", "binaryType"];

const syntaxError = () => new NativeDOMException("An invalid or illegal string was specified", "SyntaxError");

// `send(text)` sends a message to the host; `maxBytes` is the maximum size of a message.
export function createWebSockets({base, send, isArrayBuffer, maxBytes}) {
  const sockets = new NativeMap(); // number → socket, until it is closed
  const hostMessages = create(null); // handlers of the messages of the host, with access to private fields
  let lastNumber = 0;

  class WebSocket extends NativeEventTarget {
    #number = 0;
    #url = "";
    #origin = "";
    #state = CONNECTING;
    #protocol = "";
    #extensions = "";
    #binaryType = "blob";
    #buffered = 0;
    #handlers = create(null);
    #queue = new NativeMap(); // position → {text, size}; text is null while a Blob is read
    #first = 0;
    #next = 0;
    #inFlight = 0;

    constructor(url, protocols) {
      if (arguments.length === 0) throw new NativeTypeError("WebSocket constructor: At least 1 argument required, but only 0 passed");
      const wanted = urlOf(url);
      const names = protocolsOf(protocols);
      super();
      this.#url = urlHref(wanted);
      this.#origin = `${urlProtocol(wanted)}//${urlHost(wanted)}`;
      this.#number = ++lastNumber;
      mapSet(sockets, this.#number, this);
      send(`["${SOCKET}","open",${this.#number},${stringify(this.#url)},${names}]`);
    }

    get url() { return this.#url; }
    get readyState() { return this.#state; }
    get bufferedAmount() { return this.#buffered; }
    get extensions() { return this.#extensions; }
    get protocol() { return this.#protocol; }
    get binaryType() { return this.#binaryType; }
    set binaryType(value) {
      const type = `${value}`;
      if (type === "blob" || type === "arraybuffer") this.#binaryType = type;
    }

    send(data) {
      if (arguments.length === 0) throw new NativeTypeError("WebSocket.send: 0 is not a valid argument count for any overload.");
      const item = this.#itemOf(data);
      if (this.#state === CONNECTING) {
        throw new NativeDOMException("An attempt was made to use an object that is not, or is no longer, usable", "InvalidStateError");
      }
      this.#buffered += item.size;
      if (this.#state === OPEN) this.#enqueue(item);
    }

    close(code = undefined, reason = undefined) {
      const number = code === undefined ? null : unsignedShort(code);
      const text = reason === undefined ? "" : toWellFormed(`${reason}`);
      if (number !== null && number !== 1000 && (number < 3000 || number > 4999)) {
        throw new NativeDOMException("A parameter or an operation is not supported by the underlying object", "InvalidAccessError");
      }
      if (encodeText(encoder, text).length > MAX_REASON_BYTES) throw syntaxError();
      if (this.#state >= CLOSING) return;
      const connecting = this.#state === CONNECTING;
      this.#state = CLOSING;
      if (connecting) return this.#fail("");
      // A reason needs a code; the default is that of a normal closure.
      const sent = number === null && text !== "" ? 1000 : number;
      this.#enqueue({__proto__: null, size: 0, text: `["${SOCKET}","close",${this.#number},${sent},${stringify(text)}]`});
    }

    #itemOf(data) {
      if (data instanceof NativeBlob) {
        const item = {__proto__: null, size: blobSize(data), text: null};
        promiseThen(blobBytes(data), buffer => {
          item.text = this.#bytesMessage(new Bytes(buffer));
          this.#pump();
        });
        return item;
      }
      const bytes = isView(data) ? bytesOf(data) : isArrayBuffer(data) ? new Bytes(data) : null;
      if (bytes !== null) return {__proto__: null, size: bytes.length, text: this.#bytesMessage(bytes)};
      const text = toWellFormed(`${data}`);
      const size = encodeText(encoder, text).length;
      return {__proto__: null, size, text: `["${SOCKET}","text",${this.#number},${stringify(text)}]`};
    }

    #bytesMessage(bytes) {
      return `["${SOCKET}","bytes",${this.#number},"${toBase64(bytes)}"]`;
    }

    #enqueue(item) {
      mapSet(this.#queue, this.#next++, item);
      this.#pump();
    }

    #pump() {
      while (this.#first < this.#next) {
        const item = mapGet(this.#queue, this.#first);
        if (item.text === null || (this.#inFlight > 0 && this.#inFlight + item.size + MESSAGE_OVERHEAD > WINDOW)) return;
        mapDelete(this.#queue, this.#first++);
        if (item.text.length * 3 > maxBytes && encodeText(encoder, item.text).length > maxBytes) {
          this.#state = CLOSING;
          return this.#fail(`a message of ${item.size} bytes is too large`);
        }
        this.#inFlight += item.size + MESSAGE_OVERHEAD;
        send(item.text);
      }
    }

    // Abort the connection without a closing handshake.
    #fail(error) {
      this.#queue = new NativeMap();
      this.#first = this.#next = 0;
      send(`["${SOCKET}","fail",${this.#number},${stringify(error)}]`);
    }

    #handler(type) {
      return this.#handlers[type]?.handler ?? null;
    }

    // Event handler attributes: the first handler determines the position among the listeners, the last one is called.
    #handle(type, value) {
      const handler = (typeof value === "object" && value !== null) || typeof value === "function" ? value : null;
      if (this.#handlers[type] !== undefined) {
        this.#handlers[type].handler = handler;
      } else if (handler !== null) {
        const entry = this.#handlers[type] = {__proto__: null, handler};
        addEventListener(this, type, event => {
          if (typeof entry.handler === "function" && apply(entry.handler, this, [event]) === false) event.preventDefault();
        });
      }
    }

    static {
      hostMessages.open = (socket, protocol, extensions) => {
        if (socket.#state !== CONNECTING) return;
        socket.#state = OPEN;
        socket.#protocol = protocol;
        socket.#extensions = extensions;
        dispatchEvent(socket, new NativeEvent("open"));
      };
      hostMessages.text = (socket, data, cost) => { socket.#arrived(data, cost); };
      hostMessages.bytes = (socket, data, cost) => {
        const bytes = fromBase64(data);
        socket.#arrived(socket.#binaryType === "blob" ? new NativeBlob([bytes]) : typedBuffer(bytes), cost);
      };
      hostMessages.sent = (socket, size) => {
        socket.#inFlight -= size + MESSAGE_OVERHEAD;
        socket.#buffered -= size;
        socket.#pump();
      };
      hostMessages.closed = (socket, code, reason, wasClean, failed) => {
        socket.#state = CLOSED;
        mapDelete(sockets, socket.#number);
        if (failed) dispatchEvent(socket, new NativeEvent("error"));
        dispatchEvent(socket, new NativeCloseEvent("close", {__proto__: null, wasClean, code, reason}));
      };
      for (const type of ["open", "error", "close", "message"]) {
        Object.defineProperty(this.prototype, `on${type}`, {
          __proto__: null,
          get() { return this.#handler(type); },
          set(value) { this.#handle(type, value); },
          enumerable: true,
          configurable: true,
        });
      }
    }

    #arrived(data, cost) {
      send(`["${SOCKET}","read",${this.#number},${cost}]`);
      if (this.#state === OPEN) dispatchEvent(this, new NativeMessageEvent("message", {__proto__: null, data, origin: this.#origin}));
    }
  }

  for (let i = 0; i < SHOWN.length; i++) {
    const property = getOwnPropertyDescriptor(WebSocket.prototype, SHOWN[i]);
    property.enumerable = true;
    Object.defineProperty(WebSocket.prototype, SHOWN[i], property);
  }
  const names = ownKeys(STATES);
  for (let i = 0; i < names.length; i++) {
    defineValue(WebSocket, names[i], STATES[names[i]]);
    defineValue(WebSocket.prototype, names[i], STATES[names[i]]);
  }
  defineValue(WebSocket, "length", 1, {__proto__: null, enumerable: false, configurable: true});
  defineValue(WebSocket.prototype, Symbol.toStringTag, "WebSocket", {__proto__: null, enumerable: false, configurable: true});

  function urlOf(text) {
    let url;
    try {
      url = new NativeUrl(toWellFormed(`${text}`), base);
    } catch {
      throw syntaxError();
    }
    const scheme = urlProtocol(url);
    if (scheme === "http:") setUrlProtocol(url, "ws:");
    else if (scheme === "https:") setUrlProtocol(url, "wss:");
    else if (scheme !== "ws:" && scheme !== "wss:") throw syntaxError();
    if (indexOf(urlHref(url), "#") >= 0) throw syntaxError();
    return url;
  }

  return {
    WebSocket,
    // Handle a message of the host. Messages for a closed socket are ignored.
    handle(number, kind, fields) {
      const socket = mapGet(sockets, number);
      if (socket !== undefined) hostMessages[kind](socket, fields[0], fields[1], fields[2], fields[3]);
    },
  };
}

// The subprotocols as JSON text.
function protocolsOf(protocols) {
  const names = [];
  if (protocols !== null && typeof protocols === "object" && protocols[iterator] !== undefined) {
    for (const each of protocols) append(names, `${each}`); // calls the iterator of the script, as in browsers
  } else if (protocols !== undefined) {
    append(names, `${protocols}`);
  }
  const seen = create(null);
  let text = "";
  for (let i = 0; i < names.length; i++) {
    if (regExpExec(TOKEN, names[i]) === null || seen[names[i]]) throw syntaxError();
    seen[names[i]] = true;
    text += `${i ? "," : ""}${stringify(names[i])}`;
  }
  return `[${text}]`;
}

// The bytes of a view.
function bytesOf(view) {
  const parts = typedTag(view) === undefined ? viewParts.view : viewParts.typed;
  return new Bytes(parts[0](view), parts[1](view), parts[2](view));
}

// Convert to [Clamp] unsigned short.
function unsignedShort(value) {
  const number = toNumber(value);
  if (!(number > 0)) return 0;
  if (number > 65535) return 65535;
  const whole = number - number % 1;
  const rest = number - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
}
