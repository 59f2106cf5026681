// WebSocket: connections are the host's, for the same reason as those of fetch(). A socket has a number; what it sends
// and what arrives are messages that bear it. Neither side has more than a window of bytes under way.

import {
  NativeDOMException, NativeMap, NativeTypeError, append, apply, create, defineValue, encodeText, encoder, getOwnPropertyDescriptor, getPrototypeOf,
  indexOf, mapDelete, mapGet, mapSet, ownKeys, promiseThen, regExpExec, stringify, uncurryThis,
} from "./primordials.js";

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
const WINDOW = 1 << 20; // bytes that were given to the host and are not sent yet, as in sockets.py
const EACH = 64; // what a message counts beyond its bytes, so that empty ones cannot be without number
const LONGEST_REASON = 123;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const SHOWN = ["close", "send", "url", "readyState", "bufferedAmount", "extensions", "protocol", "binaryType"];

const syntaxError = () => new NativeDOMException("An invalid or illegal string was specified", "SyntaxError");

// `send(text)` sends a message to the host; `largest` is the size that one may have.
export function createWebSockets({base, send, isArrayBuffer, largest}) {
  const sockets = new NativeMap(); // number → socket, until it is closed
  const arrivals = create(null); // what the host may say, which only the class itself can do
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
    #queue = new NativeMap(); // position → {text, size}, to be sent when the window allows it; text is null until it is known
    #first = 0;
    #next = 0;
    #underWay = 0;

    constructor(url, protocols) {
      if (arguments.length === 0) throw new NativeTypeError("WebSocket constructor: At least 1 argument required, but only 0 passed");
      const wanted = urlOf(url);
      const names = protocolsOf(protocols);
      super();
      this.#url = urlHref(wanted);
      this.#origin = `${urlProtocol(wanted)}//${urlHost(wanted)}`;
      this.#number = ++lastNumber;
      mapSet(sockets, this.#number, this);
      send(`["w","open",${this.#number},${stringify(this.#url)},${names}]`);
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
      if (encodeText(encoder, text).length > LONGEST_REASON) throw syntaxError();
      if (this.#state >= CLOSING) return;
      const connecting = this.#state === CONNECTING;
      this.#state = CLOSING;
      if (connecting) return this.#fail("");
      // A reason goes with a code; that of a normal end, if none is given.
      const told = number === null && text !== "" ? 1000 : number;
      this.#enqueue({__proto__: null, size: 0, text: `["w","close",${this.#number},${told},${stringify(text)}]`});
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
      return {__proto__: null, size, text: `["w","text",${this.#number},${stringify(text)}]`};
    }

    #bytesMessage(bytes) {
      return `["w","bytes",${this.#number},"${toBase64(bytes)}"]`;
    }

    #enqueue(item) {
      mapSet(this.#queue, this.#next++, item);
      this.#pump();
    }

    #pump() {
      while (this.#first < this.#next) {
        const item = mapGet(this.#queue, this.#first);
        if (item.text === null || (this.#underWay > 0 && this.#underWay + item.size + EACH > WINDOW)) return;
        mapDelete(this.#queue, this.#first++);
        if (item.text.length * 3 > largest && encodeText(encoder, item.text).length > largest) {
          this.#state = CLOSING;
          return this.#fail(`a message of ${item.size} bytes is too large`);
        }
        this.#underWay += item.size + EACH;
        send(item.text);
      }
    }

    // Give the connection up, without saying goodbye.
    #fail(why) {
      this.#queue = new NativeMap();
      this.#first = this.#next = 0;
      send(`["w","fail",${this.#number},${stringify(why)}]`);
    }

    #handler(type) {
      return this.#handlers[type]?.handler ?? null;
    }

    // As attributes for handlers are: the first one decides the place among the listeners, the last one is called.
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
      arrivals.open = (socket, protocol, extensions) => {
        if (socket.#state !== CONNECTING) return;
        socket.#state = OPEN;
        socket.#protocol = protocol;
        socket.#extensions = extensions;
        dispatchEvent(socket, new NativeEvent("open"));
      };
      arrivals.text = (socket, data, cost) => { socket.#arrived(data, cost); };
      arrivals.bytes = (socket, data, cost) => {
        const bytes = fromBase64(data);
        socket.#arrived(socket.#binaryType === "blob" ? new NativeBlob([bytes]) : typedBuffer(bytes), cost);
      };
      arrivals.sent = (socket, size) => {
        socket.#underWay -= size + EACH;
        socket.#buffered -= size;
        socket.#pump();
      };
      arrivals.closed = (socket, code, reason, wasClean, failed) => {
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
      send(`["w","read",${this.#number},${cost}]`);
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
    // The host says something of a socket; one that is closed has nothing more to hear.
    told(number, what, details) {
      const socket = mapGet(sockets, number);
      if (socket !== undefined) arrivals[what](socket, details[0], details[1], details[2], details[3]);
    },
  };
}

// The subprotocols, as JSON.
function protocolsOf(protocols) {
  const names = [];
  if (protocols !== null && typeof protocols === "object" && protocols[iterator] !== undefined) {
    for (const each of protocols) append(names, `${each}`); // the script's own iterator is what decides
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

// The bytes that a view shows.
function bytesOf(view) {
  const parts = typedTag(view) === undefined ? viewParts.view : viewParts.typed;
  return new Bytes(parts[0](view), parts[1](view), parts[2](view));
}

// What [Clamp] unsigned short makes of a value.
function unsignedShort(value) {
  const number = toNumber(value);
  if (!(number > 0)) return 0;
  if (number > 65535) return 65535;
  const whole = number - number % 1;
  const rest = number - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
}
