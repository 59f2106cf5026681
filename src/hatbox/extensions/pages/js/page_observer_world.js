// Observes a document of an extension in an isolated world, which its scripts cannot reach: input of the user, calls of
// window.close(), and changes that may affect the size of a popup. `report` is the CDP binding of this world.
(() => {
  const report = globalThis.hatboxPage;
  const INPUT = ["pointerdown", "pointerup", "mousedown", "mouseup", "click", "auxclick", "keydown", "touchend", "drop"];
  const INPUT_INTERVAL = 200; // milliseconds
  const SIZE_DELAY = 50;
  let lastInput = -Infinity;
  let sizeTimer = null;

  for (const type of INPUT) {
    addEventListener(type, event => {
      if (!event.isTrusted || performance.now() - lastInput < INPUT_INTERVAL) return;
      lastInput = performance.now();
      report("input");
    }, {capture: true, passive: true});
  }
  if (window !== top) return;
  addEventListener("hatbox-close", () => { report("close"); });
  const changed = () => {
    sizeTimer ??= setTimeout(() => {
      sizeTimer = null;
      report("size");
    }, SIZE_DELAY);
  };
  const observer = new MutationObserver(changed);
  addEventListener("DOMContentLoaded", () => {
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    changed();
  });
  addEventListener("load", changed, {capture: true}); // images and style sheets too
})();
