// The tab "cookies" of an identity: to be built.

export function mount(root, cookieStoreId) {
  root.append(cookieStoreId);
  return {unmount() {}};
}
