// webRequest: decodes bodies from Base64 into an ArrayBuffer. With asyncBlocking, a listener responds by calling a
// callback.

host => {
  const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
  const NativePromise = Promise;

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

  return {
    members: {},
    events: {onAuthRequired: authenticate},
    prepare: {
      onBeforeRequest(args) {
        const parts = args[0].requestBody?.raw ?? [];
        for (let i = 0; i < parts.length; i++) parts[i].bytes = fromBase64(parts[i].bytes).buffer;
      },
    },
  };
}
