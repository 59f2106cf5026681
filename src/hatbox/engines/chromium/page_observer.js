// Runs in every document, in a world of its own: a page sees neither this nor `hatbox`, which tells the engine.
// It sets no timers, because their numbers could be seen. MARK is {name, icon}, or null for none.
((mark, document) => {
  const id = Math.random();
  const tell = (...words) => hatbox(JSON.stringify([id, ...words]));
  const isTop = window === window.top;
  tell("document", isTop, location.origin, isSecureContext);

  // One word stands for all that change within 50 ms: the engine looks later than that. A page that changes cookies
  // without end is not listened to any more, or it would be in the way of all others: the engine then looks by itself.
  let heard = -Infinity, count = 0, second = 0;
  const onCookies = () => {
    const now = performance.now();
    if (now - second > 1000) [second, count] = [now, 0];
    if (++count > 200) {
      cookieStore.removeEventListener("change", onCookies);
      tell("unheard");
    } else if (now - heard > 50) {
      heard = now;
      tell("cookies");
    }
  };
  if (self.cookieStore) cookieStore.addEventListener("change", onCookies);
  if (!isTop) return;

  // ------------------------------------------------------------------------------------- title, icon and the mark

  let told = "", own = null, made = null, attempts = 0, since = 0;
  const prefix = () => `${mark.name} · `;

  const plainTitle = () => {
    const title = document.title;
    return mark === null ? title : title === mark.name ? "" : title.split(prefix()).join("");
  };

  const icons = () => [...document.querySelectorAll("link[rel~=icon i]")].filter((link) => link !== own);

  const mayMark = () => {
    // A page that changes it back each time wins, before the two of us use up the processor.
    const now = performance.now();
    if (now - since > 1000) [since, attempts] = [now, 0];
    return ++attempts <= 20;
  };

  const markTitle = (title) => {
    if (made !== null && document.querySelectorAll("head > title").length > 1) {
      made.remove();
      made = null;
      return markTitle(document.title);
    }
    const marked = title === "" ? mark.name : prefix() + title;
    const there = document.querySelector("title") !== null;
    if (document.title === marked || !(there || document.readyState !== "loading") || !mayMark()) return title;
    document.title = marked;
    if (!there) made = document.querySelector("title");
    return title;
  };

  const markIcon = () => {
    const head = document.head;
    if (head === null) return;
    const last = [...head.querySelectorAll("link[rel~=icon i]")].pop();
    if ((own !== null && last === own) || !mayMark()) return;
    own ??= Object.assign(document.createElement("link"), { rel: "icon", type: "image/svg+xml" });
    own.href = mark.icon;
    head.append(own);
  };

  const look = () => {
    let title = plainTitle();
    if (mark !== null && document instanceof HTMLDocument && location.protocol.startsWith("http")) {
      title = markTitle(title);
      markIcon();
    }
    const icon = icons().pop()?.href ?? "";
    const words = JSON.stringify([title.slice(0, 4096), icon.length > 65536 ? "" : icon]);
    if (words !== told) tell("look", ...JSON.parse((told = words)));
  };

  const inHead = new MutationObserver(look);
  const watched = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["href", "rel"] };
  const watchHead = () => {
    if (document.head === null) return;
    inHead.disconnect();
    inHead.observe(document.head, watched);
    look();
  };
  const inRoot = new MutationObserver(watchHead);
  const watchRoot = () => {
    if (document.documentElement === null) return;
    inRoot.disconnect();
    inRoot.observe(document.documentElement, { childList: true });
    watchHead();
  };
  new MutationObserver(watchRoot).observe(document, { childList: true });
  watchRoot();
  for (const moment of ["DOMContentLoaded", "load"]) window.addEventListener(moment, look);

  // --------------------------------------------------------------------------------------- scrolling and the focus

  window.addEventListener("scrollend", (event) => {
    if (event.target === document) tell("scroll", scrollX, scrollY);
  }, { capture: true, passive: true });
  window.addEventListener("focus", (event) => {
    if (event.target === window) tell("focus");
  });

  // What the engine calls in this world.
  self.hatboxMark = (other) => {
    const title = plainTitle();
    if (own !== null) own.remove();
    own = null;
    document.title = title;
    mark = other;
    look();
  };
  self.hatboxScroll = (x, y) => {
    // A page may grow for a while. Whoever scrolls by hand has the last word.
    const grown = new ResizeObserver(() => {
      window.scrollTo({ left: x, top: y, behavior: "instant" });
      if (Math.abs(scrollX - x) < 2 && Math.abs(scrollY - y) < 2) grown.disconnect();
    });
    grown.observe(document.documentElement);
    for (const act of ["wheel", "keydown", "pointerdown", "touchstart"]) {
      window.addEventListener(act, () => grown.disconnect(), { capture: true, passive: true, once: true });
    }
  };
})(MARK, document);
