// runtime: what a script gets without waiting, and how its listeners answer messages.

host => {
  const page = globalThis;
  const NativePromise = Promise;
  const UNEXPECTED = "An unexpected error occurred";
  const NO_RECEIVER = "Could not establish connection. Receiving end does not exist.";

  // What Firefox makes of whatever a listener throws: an error with the same message, and nothing else of it.
  const plain = thrown => new Error(`${thrown?.message ?? UNEXPECTED}`);

  // An answer that the host can be given: a list with it. What cannot be cloned is as if nobody had heard the message.
  function answerOf(value) {
    try {
      host.encodeMessage(value);
    } catch (error) {
      host.report("listener", error);
      return NativePromise.reject(new Error(NO_RECEIVER));
    }
    return [value];
  }

  // Call a listener; gives, now or later, a list: with its answer, or empty if it has none.
  function ask(listener, args) {
    let answer = null;
    let arrived;
    const later = new NativePromise(done => { arrived = done; });
    const sendResponse = value => {
      answer ??= {value};
      arrived(value);
    };
    let result;
    try {
      result = listener(args[0], args[1], sendResponse);
    } catch (error) {
      return NativePromise.reject(plain(error));
    }
    if (result instanceof NativePromise) return result.then(answerOf, error => { throw plain(error); });
    if (result === true) return later.then(answerOf);
    return answer === null ? [] : answerOf(answer.value);
  }

  const connected = (listener, args) => { listener(host.ports.accept(args[0])); };

  return {
    always: true,
    events: {onMessage: ask, onMessageExternal: ask, onConnect: connected, onConnectExternal: connected},
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
      reload() { host.tell("runtime.reload", "[]"); },
    },
  };
}
