// extension: what a script gets without waiting. The background is all that there is of pages.

host => {
  const page = globalThis;
  const NOWHERE = [null, undefined, -1];

  const members = {
    get inIncognitoContext() { return false; },
    getURL: path => host.url(path),
    getBackgroundPage: () => page,
    getViews(wanted) {
      const {type, windowId, tabId} = wanted ?? {};
      return (type ?? null) === null && NOWHERE.includes(windowId) && NOWHERE.includes(tabId) ? [page] : [];
    },
  };
  // With manifest version 3 only runtime has it.
  if (host.data.manifest.manifest_version !== 3) {
    Object.defineProperty(members, "lastError", {get: () => host.lastError, enumerable: true});
  }
  return {members};
}
