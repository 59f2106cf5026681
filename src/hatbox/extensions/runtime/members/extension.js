// extension: what a script gets without waiting. The background is all that there is of pages.

host => {
  const page = globalThis;
  const NOWHERE = [null, undefined, -1];

  return {
    members: {
      get lastError() { return host.lastError; },
      get inIncognitoContext() { return false; },
      getURL: path => host.url(path),
      getBackgroundPage: () => page,
      getViews(wanted) {
        const {type, windowId, tabId} = wanted ?? {};
        return (type ?? null) === null && NOWHERE.includes(windowId) && NOWHERE.includes(tabId) ? [page] : [];
      },
    },
  };
}
