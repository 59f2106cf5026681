// contentScripts: register() resolves to an object with a function.

host => {
  const NativePromise = Promise;

  // What register() resolves to. The host knows the script by its number.
  function registered(number) {
    let done = false;
    return {
      unregister() {
        if (done) return NativePromise.reject(new Error("Content script already unregistered"));
        done = true;
        return host.call("scriptCalls.unregister", [number]).then(() => undefined);
      },
    };
  }

  return {
    members: {
      register(options, call) {
        return new NativePromise((resolve, reject) => {
          host.send(call, call.text, (ok, value) => { ok ? resolve(registered(value)) : reject(host.errorOf(call, value)); });
        });
      },
    },
  };
}
