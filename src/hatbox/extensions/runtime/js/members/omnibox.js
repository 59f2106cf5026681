// omnibox: a listener of onInputChanged gets a callback for its suggestions. The host gets those of the first call.

host => {
  const NativePromise = Promise;

  function changed(listener, [text]) {
    const result = new NativePromise((resolve, reject) => {
      try {
        listener(text, suggestions => { resolve(suggestions); });
        if (listener.length < 2) resolve(null);
      } catch (error) {
        reject(error);
      }
    });
    result.catch(error => { host.report("listener", error); });
    return result;
  }

  return {members: {}, events: {onInputChanged: changed}};
}
