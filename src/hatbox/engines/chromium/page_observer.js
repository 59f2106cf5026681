// Runs in an isolated world of every document. The page sees neither this script nor the binding `hatbox`, which sends
// messages to the engine. It sets no timers, because the page could observe their ids.
((document) => {
  const id = Math.random();
  const send = (message, ...args) => hatbox(JSON.stringify([id, message, ...args]));
  const isTop = window === window.top;
  send("document", isTop, location.origin, isSecureContext);

  // One message per 50 ms: the engine reads cookies after that time. Above 200 changes per second the listener is
  // removed, and the engine polls: otherwise one page could slow down all others.
  let lastCookieMessage = -Infinity, count = 0, second = 0;
  const onCookies = () => {
    const now = performance.now();
    if (now - second > 1000) [second, count] = [now, 0];
    if (++count > 200) {
      cookieStore.removeEventListener("change", onCookies);
      send("cookiesUnobservable");
    } else if (now - lastCookieMessage > 50) {
      lastCookieMessage = now;
      send("cookies");
    }
  };
  if (self.cookieStore) cookieStore.addEventListener("change", onCookies);
  if (!isTop) return;

  // ------------------------------------------------------------------------------------------------- title and icon

  let lastSent = "";
  const update = () => {
    if (globalThis.hatboxStartPage?.shownIn === document) return; // they are for the window, not of a page
    const icon = [...document.querySelectorAll("link[rel~=icon i]")].pop()?.href ?? "";
    const current = JSON.stringify([document.title.slice(0, 4096), icon.length > 65536 ? "" : icon]);
    if (current !== lastSent) send("titleAndIcon", ...JSON.parse((lastSent = current)));
  };

  const inHead = new MutationObserver(update);
  const observed = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["href", "rel"] };
  const observeHead = () => {
    if (document.head === null) return;
    inHead.disconnect();
    inHead.observe(document.head, observed);
    update();
  };
  const inRoot = new MutationObserver(observeHead);
  const observeRoot = () => {
    if (document.documentElement === null) return;
    inRoot.disconnect();
    inRoot.observe(document.documentElement, { childList: true });
    observeHead();
  };
  new MutationObserver(observeRoot).observe(document, { childList: true });
  observeRoot();
  for (const name of ["DOMContentLoaded", "load"]) window.addEventListener(name, update);

  // --------------------------------------------------------------------------------------- scroll and focus

  window.addEventListener("scrollend", (event) => {
    if (event.target === document) send("scroll", scrollX, scrollY);
  }, { capture: true, passive: true });
  window.addEventListener("focus", (event) => {
    if (event.target === window) send("focus");
  });

  // ----------------------------------------------------------------------------------------- links of extensions

  // Only a real click counts: a page must not open links in an identity by itself. Chromium would ask the user for a
  // program of the operating system, and block the page meanwhile.
  window.addEventListener("click", (event) => {
    if (!event.isTrusted || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement && each.href !== "");
    if (!link || !/^ext\+[a-z]+:/i.test(link.href) || link.href.length > 65536) return;
    event.preventDefault();
    send("link", link.href);
  });

  // The engine calls this function.
  self.hatboxScroll = (x, y) => {
    // A page may grow while it loads. Stop as soon as the user scrolls.
    const grown = new ResizeObserver(() => {
      window.scrollTo({ left: x, top: y, behavior: "instant" });
      if (Math.abs(scrollX - x) < 2 && Math.abs(scrollY - y) < 2) grown.disconnect();
    });
    grown.observe(document.documentElement);
    for (const act of ["wheel", "keydown", "pointerdown", "touchstart"]) {
      window.addEventListener(act, () => grown.disconnect(), { capture: true, passive: true, once: true });
    }
  };
})(document);
