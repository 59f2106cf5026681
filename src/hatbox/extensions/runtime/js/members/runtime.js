// runtime: synchronous members, and the responses of message listeners.

host => {
  const page = globalThis;
  const NativePromise = Promise;
  const UNEXPECTED = "An unexpected error occurred";
  const NO_RECEIVER = "Could not establish connection. Receiving end does not exist.";

  // Firefox reduces the error of a listener to its message.
  const messageOnly = thrown => new Error(`${thrown?.message ?? UNEXPECTED}`);

  // The response for the host: a list with the value. If it cannot be cloned, the sender gets the error for no receiver.
  function responseOf(value) {
    try {
      host.encodeMessage(value);
    } catch (error) {
      host.report("listener", error);
      return NativePromise.reject(new Error(NO_RECEIVER));
    }
    return [value];
  }

  // Call a listener. Returns a list, or a promise of it: with the response, or empty without one.
  function request(listener, args) {
    let response = null;
    let resolve;
    const later = new NativePromise(done => { resolve = done; });
    const sendResponse = value => {
      response ??= {value};
      resolve(value);
    };
    let result;
    try {
      result = listener(args[0], args[1], sendResponse);
    } catch (error) {
      return NativePromise.reject(messageOnly(error));
    }
    if (result instanceof NativePromise) return result.then(responseOf, error => { throw messageOnly(error); });
    if (result === true) return later.then(responseOf);
    return response === null ? [] : responseOf(response.value);
  }

  // The messages of native applications are JSON text in both directions. As in Firefox, a message that has none rejects.
  function sendNative(application, message, callback, call) {
    const exchange = (resolve, reject) => {
      let text;
      try {
        text = host.jsonText(message);
      } catch (error) {
        return void reject(`${error?.message}`);
      }
      host.send(call, JSON.stringify([application, text]), (ok, value) => (ok ? resolve(JSON.parse(value)) : reject(value)));
    };
    if (callback === null) return new NativePromise((resolve, reject) => { exchange(resolve, problem => { reject(host.errorOf(call, problem)); }); });
    exchange(value => { host.callBack(callback, true, value, call); }, problem => { host.callBack(callback, false, problem, call); });
    return undefined;
  }

  const connected = (listener, args) => { listener(host.ports.accept(args[0])); };

  return {
    always: true,
    events: {onMessage: request, onMessageExternal: request, onConnect: connected, onConnectExternal: connected},
    absent: host.data.context === undefined ? [] : host.data.context === "content" ? ["getBackgroundPage", "reload"] : ["getBackgroundPage"],
    members: {
      get id() { return host.data.id; },
      get lastError() { return host.lastError; },
      getURL: path => host.url(path),
      getManifest: () => structuredClone(host.data.manifest),
      getBackgroundPage(callback) {
        const found = NativePromise.resolve(page);
        if (!callback) return found;
        found.then(callback);
        return undefined;
      },
      connect: (extensionId, info) => host.ports.connect(info?.name ?? "", {extensionId: extensionId || null}),
      connectNative: application => host.ports.connectNative(application),
      sendNativeMessage: (application, _, callback, call) => sendNative(application, call.args[1], callback, call),
      reload() { host.notify("runtime.reload", "[]"); },
    },
  };
}
