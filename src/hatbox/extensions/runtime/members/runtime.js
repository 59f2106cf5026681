// runtime: what a script gets without waiting, from what the host sent at the start.

host => ({
  always: true,
  members: {
    get id() { return host.data.id; },
    get lastError() { return host.lastError; },
    getURL: path => host.url(`${path}`),
    getManifest: () => structuredClone(host.data.manifest),
  },
})
