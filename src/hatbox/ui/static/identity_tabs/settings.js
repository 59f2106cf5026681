// The tab "settings" of an identity: to be built.

export function mount(root, cookieStoreId) {
  root.append(cookieStoreId);
  return {unmount() {}};
}
