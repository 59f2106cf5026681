// webRequest: decodes bodies from Base64 into an ArrayBuffer. With asyncBlocking, a listener responds by calling a
// callback. filterResponseData() returns a StreamFilter, which exchanges events with the host over a port.

host => {
  const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
  const toBase64 = Function.prototype.call.bind(Uint8Array.prototype.toBase64);
  const subarray = Function.prototype.call.bind(Uint8Array.prototype.subarray);
  const getBuffer = Function.prototype.call.bind(Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get);
  const NativeBytes = Uint8Array;
  const NativePromise = Promise;
  const NativeEvent = Event;
  const {defineProperties} = Object;
  const call = Function.prototype.call.bind(Function.prototype.call);
  const MAX_WRITE = 1 << 20; // bytes of one message to the host
  const FILTER_PERMISSION = "webRequestFilterResponse";

  function authenticate(listener, [details], [, options]) {
    const result = options?.includes("asyncBlocking")
      ? new NativePromise((resolve, reject) => {
        try {
          listener(details, value => { resolve(value); });
        } catch (error) {
          reject(error);
        }
      })
      : listener(details);
    if (result instanceof NativePromise) result.catch(error => { host.report("rejection", error); });
    return result;
  }

  // ── StreamFilter ──

  const OPEN = ["transferringdata", "finishedtransferringdata", "suspended"];
  const isOpen = status => OPEN.includes(status);

  // The error of Firefox for a call in the wrong state.
  function wrongState() {
    const error = new Error("");
    error.name = "NS_ERROR_FAILURE";
    return error;
  }

  function bytesOf(args) {
    if (args.length === 0) throw new TypeError("StreamFilter.write: At least 1 argument required, but only 0 passed");
    const [data] = args;
    if (data instanceof NativeBytes) return data;
    try {
      getBuffer(data); // throws unless it is an ArrayBuffer
    } catch {
      throw new TypeError("StreamFilter.write: Argument 1 could not be converted to any of: ArrayBuffer, Uint8Array.");
    }
    return new NativeBytes(data);
  }

  let create; // the constructor is not for scripts

  class StreamFilter {
    #status = "uninitialized";
    #error = "";
    #port;
    #waiting = []; // events that came while it was suspended
    #before; // the status to return to from "suspended"
    onstart = null;
    ondata = null;
    onstop = null;
    onerror = null;

    constructor(requestId, key) {
      if (key !== create) throw new TypeError("Illegal constructor.");
      this.#port = host.ports.connectFilter(requestId, event => { this.#receive(event); });
    }

    static {
      create = (requestId, key) => new StreamFilter(requestId, key);
    }

    get status() { return this.#status; }
    get error() { return this.#error; }
    get [Symbol.toStringTag]() { return "StreamFilter"; }

    write(...args) {
      const bytes = bytesOf(args);
      if (this.#status !== "transferringdata" && this.#status !== "finishedtransferringdata" && this.#status !== "suspended") throw wrongState();
      for (let i = 0; i < bytes.length; i += MAX_WRITE) this.#port.post({write: toBase64(subarray(bytes, i, i + MAX_WRITE))});
    }

    close() {
      if (this.#status === "closed") return;
      this.#finish("closed", {close: true});
    }

    disconnect() {
      if (this.#status === "disconnected") return;
      this.#finish("disconnected", {disconnect: true});
    }

    suspend() {
      if (this.#status === "suspended") return;
      if (this.#status !== "transferringdata") throw wrongState();
      this.#before = this.#status;
      this.#status = "suspended";
    }

    resume() {
      if (this.#status === "transferringdata") return;
      if (this.#status !== "suspended") throw wrongState();
      this.#status = this.#before;
      while (this.#waiting.length > 0 && this.#status !== "suspended") this.#receive(this.#waiting.shift());
    }

    #finish(status, message) {
      if (!isOpen(this.#status)) throw wrongState();
      this.#status = status;
      this.#port.post(message);
      if (this.#waiting.splice(0).length > 0) this.#port.post({handled: false});
    }

    #receive(event) {
      if (this.#status === "suspended") return void this.#waiting.push(event);
      if ("error" in event) {
        this.#status = "failed";
        this.#error = event.error;
        return this.#emit("error", {});
      }
      const wasOpen = this.#status === "uninitialized" || isOpen(this.#status);
      if (wasOpen) {
        if ("start" in event) {
          this.#status = "transferringdata";
          this.#emit("start", {});
        } else if ("data" in event) {
          this.#emit("data", {data: {value: fromBase64(event.data).buffer, enumerable: true}});
        } else {
          this.#status = "finishedtransferringdata";
          this.#emit("stop", {});
        }
      }
      this.#port.post({handled: wasOpen});
    }

    #emit(type, more) {
      const listener = this[`on${type}`];
      if (typeof listener !== "function") return;
      try {
        const event = new NativeEvent(type);
        defineProperties(event, {target: {value: this}, currentTarget: {value: this}, ...more});
        call(listener, this, event);
      } catch (error) {
        host.report("listener", error);
      }
    }
  }

  if (host.data.manifest.permissions?.includes("webRequestBlocking")) {
    Object.defineProperty(globalThis, "StreamFilter", {value: StreamFilter, writable: true, configurable: true});
  }

  function filterResponseData(requestId) {
    const {manifest} = host.data;
    if (manifest.manifest_version > 2 && !manifest.permissions?.includes(FILTER_PERMISSION)) {
      throw new Error(`Missing required "${FILTER_PERMISSION}" permission`);
    }
    return create(requestId, create);
  }

  return {
    members: {filterResponseData: requestId => filterResponseData(requestId)},
    events: {onAuthRequired: authenticate},
    prepare: {
      onBeforeRequest(args) {
        const parts = args[0].requestBody?.raw ?? [];
        for (let i = 0; i < parts.length; i++) parts[i].bytes = fromBase64(parts[i].bytes).buffer;
      },
    },
  };
}
