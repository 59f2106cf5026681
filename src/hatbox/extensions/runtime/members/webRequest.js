// webRequest: the bytes of a body are an ArrayBuffer. They come in Base64.

() => {
  const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);

  return {
    members: {},
    events: {
      onBeforeRequest(listener, [details]) {
        for (const part of details.requestBody?.raw ?? []) part.bytes = fromBase64(part.bytes).buffer;
        return listener(details);
      },
    },
  };
}
