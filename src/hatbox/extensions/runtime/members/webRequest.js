// webRequest: the bytes of a body are an ArrayBuffer. They come in Base64.

() => {
  const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);

  return {
    members: {},
    prepare: {
      onBeforeRequest(args) {
        const parts = args[0].requestBody?.raw ?? [];
        for (let i = 0; i < parts.length; i++) parts[i].bytes = fromBase64(parts[i].bytes).buffer;
      },
    },
  };
}
