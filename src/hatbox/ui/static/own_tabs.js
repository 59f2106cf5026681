// Links of the page that are opened in a new tab, with Ctrl, Shift or the middle button. The browser would give that tab
// an empty sessionStorage, without the key of the page; one that window.open() opens gets a copy.
//
// The tabs do not exchange the key: a document that another program served on this port would receive it too.

export function openLinksInOwnTabs() {
  addEventListener("click", openInTab);
  addEventListener("auxclick", openInTab);
}

function openInTab(event) {
  const link = event.target.closest?.("a[href^='#']");
  const isNew = event.button === 1 || (event.button === 0 && (event.ctrlKey || event.metaKey || event.shiftKey));
  if (!link || !isNew || event.defaultPrevented) return;
  event.preventDefault();
  const tab = window.open(link.href);
  if (tab) tab.opener = null; // if another program answers a reload of one tab, its document must not reach the other
}
