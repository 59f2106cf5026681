// extension: synchronous members. A page that is not the background cannot reach the objects of other pages, so it has
// neither getBackgroundPage() nor getViews().

host => {
  const page = globalThis;
  const NOWHERE = [null, undefined, -1];

  const members = {
    get inIncognitoContext() { return false; },
    getURL: path => host.url(path),
    getBackgroundPage: () => page,
    getViews(filter) {
      const {type, windowId, tabId} = filter ?? {};
      return (type ?? null) === null && NOWHERE.includes(windowId) && NOWHERE.includes(tabId) ? [page] : [];
    },
  };
  // In manifest version 3 only runtime has lastError.
  if (host.data.manifest.manifest_version !== 3) {
    Object.defineProperty(members, "lastError", {get: () => host.lastError, enumerable: true});
  }
  return {members, absent: host.data.context === undefined ? [] : ["getBackgroundPage", "getViews"]};
}
