"""The visible text of a page, in lines like those of a snapshot, from which passwords and cookies can be removed."""

from __future__ import annotations

from typing import Final

from playwright.async_api import Page

__all__ = ["contains_text", "in_one_line", "visible_lines"]

_MAX_VISIBLE: Final = 200_000  # characters of a frame
_TEXT: Final = "- text: "
_READ: Final = "limit => (document.body?.innerText ?? document.documentElement?.textContent ?? '').slice(0, limit)"


async def visible_lines(page: Page) -> str:
    """The visible text of all frames: each line is one of a snapshot. Raises PlaywrightError."""
    texts = [await frame.evaluate(_READ, _MAX_VISIBLE) for frame in page.frames if not frame.is_detached()]
    return "\n".join(f"{_TEXT}{line}" for text in texts for line in text.split("\n"))


def in_one_line(lines: str) -> str:
    """The texts of lines of a snapshot, one after the other: words may continue in the next line."""
    return " ".join(" ".join(line.strip().removeprefix(_TEXT) for line in lines.split("\n")).split())


def contains_text(line: str, text: str) -> bool:
    """Whether a line contains a text. Ignores case and white space."""
    return " ".join(text.split()).casefold() in line.casefold()
