// extension: synchronous members. A page that is not the background cannot reach the objects of other pages, so it has
// neither getBackgroundPage() nor getViews(). Nor can the background: it has getViews() only if its manifest names no page.

host => {
  const page = globalThis;
  const NOWHERE = [null, undefined, -1];
  const {manifest} = host.data;
  const PAGES = ["action", "browser_action", "page_action", "sidebar_action", "options_ui", "options_page", "chrome_url_overrides"];

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
  if (manifest.manifest_version !== 3) {
    Object.defineProperty(members, "lastError", {get: () => host.lastError, enumerable: true});
  }
  const absent = PAGES.some(key => (manifest[key] ?? null) !== null) ? ["getViews"] : [];
  return {members, absent: host.data.context === undefined ? absent : ["getBackgroundPage", "getViews"]};
}
