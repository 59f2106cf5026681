"""Frames of the manager page while its identities are scrolled, and those of a static list of the same cards.

The static list is in the same page and has the cards that are in the DOM, repeated; it is scrolled as fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.async_api import Page

__all__ = ["scroll_frames"]

_STEP: Final = 200
"""Pixels that each frame scrolls."""
_COPIES: Final = 20
# Scrolls by a step in each frame, and returns the milliseconds of the frames. It turns at the ends.
_SCROLL: Final = """async ([frames, step]) => {
  const scroller = document.querySelector("main .scroll");
  const times = [];
  let before = await new Promise(requestAnimationFrame), by = step;
  while (times.length < frames) {
    const top = scroller.scrollTop;
    scroller.scrollTop = top + by;
    if (scroller.scrollTop === top) by = -by;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times;
}"""
_REPLACE_BY_STATIC: Final = """async (copies) => {
  const scroller = document.querySelector("main .scroll"), list = scroller.querySelector("[role=list]");
  scroller.scrollTop = 0;
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const {top} = list.getBoundingClientRect();
  const height = Math.max(...[...list.children].map((card) => card.getBoundingClientRect().bottom)) - top;
  const still = scroller.cloneNode();
  for (let copy = 0; copy < copies; copy++) {
    const part = list.cloneNode(true);
    part.style.height = `${height + 12}px`;
    still.append(part);
  }
  scroller.replaceWith(still);
}"""


async def scroll_frames(page: Page, frames: int) -> tuple[list[float], list[float]]:
    """Milliseconds of the frames of the list, and of the static one, which then replaces it."""
    times = await page.evaluate(_SCROLL, [frames, _STEP])
    await page.evaluate(_REPLACE_BY_STATIC, _COPIES)
    return times, await page.evaluate(_SCROLL, [frames, _STEP])
