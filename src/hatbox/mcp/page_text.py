"""The visible text of a page, in lines like those of a snapshot, from which passwords and cookies can be removed."""

from __future__ import annotations

from typing import Final, NamedTuple

from playwright.async_api import Page

from hatbox.engines.chromium.sessions import within

__all__ = ["VisibleText", "contains_text", "in_one_line", "visible_texts"]

_MAX_VISIBLE: Final = 200_000  # characters of a frame
_TEXT: Final = "- text: "
_READ: Final = """limit => {
    const text = document.body?.innerText ?? document.documentElement?.textContent ?? "";
    return [text.slice(0, limit), text.length > limit];
}"""


class VisibleText(NamedTuple):
    """The visible text of a frame."""

    lines: str
    """Each is one of a snapshot."""
    is_cut: bool
    """Whether more follows."""


async def visible_texts(page: Page) -> list[VisibleText]:
    """The visible text of all frames. Raises PlaywrightError."""
    read = [await within(frame.evaluate(_READ, _MAX_VISIBLE)) for frame in page.frames if not frame.is_detached()]
    return [VisibleText("\n".join(f"{_TEXT}{line}" for line in text.split("\n")), is_cut) for text, is_cut in read]


def in_one_line(lines: str) -> str:
    """The texts of lines of a snapshot, one after the other: words may continue in the next line."""
    return " ".join(" ".join(line.strip().removeprefix(_TEXT) for line in lines.split("\n")).split())


def contains_text(line: str, text: str) -> bool:
    """Whether a line contains a text. Ignores case and white space."""
    return " ".join(text.split()).casefold() in line.casefold()
