// extension: what a script gets without waiting.

host => ({
  members: {
    get lastError() { return host.lastError; },
    get inIncognitoContext() { return false; },
    getURL: path => host.url(`${path}`),
  },
})
