"""Globs: patterns in which `*` stands for any text, and optionally `?` for one character. Pure text.

Scripts choose the pattern and pages the text, so matching must take linear time. The text between two stars is searched
once, from the end of the previous match: the leftmost match leaves most for the rest, so there is no backtracking.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Glob", "glob"]

_LONGEST_WITH_QUESTION: Final = 4096  # as long as a title can be


class Glob(NamedTuple):
    """A compiled pattern: the pieces between its stars. A pattern without a star has one piece."""

    pieces: tuple[str, ...]
    question: bool

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        first, *middle = self.pieces
        if not middle:
            return len(text) == len(first) and self._fits(first, text)
        last = middle.pop()
        end = len(text) - len(last)
        at = len(first)
        if at > end or not self._fits(first, text[:at]) or not self._fits(last, text[end:]):
            return False
        for piece in middle:
            at = self._find(piece, text, at)
            if at < 0:
                return False
            at += len(piece)
        return at <= end

    def _fits(self, piece: str, text: str) -> bool:
        """Whether a text of the same length matches a piece."""
        if not self.question or "?" not in piece:
            return piece == text
        return all(wanted in ("?", found) for wanted, found in zip(piece, text, strict=True))

    def _find(self, piece: str, text: str, at: int) -> int:
        if not self.question or "?" not in piece:
            return text.find(piece, at)
        return _find_with_question(piece, text, at)


def glob(text: str, *, question: bool) -> Glob:
    """Compile a pattern in which `*` stands for any text and, with `question`, `?` for one character."""
    first, *others = text.split("*")
    if not others:
        return Glob((first,), question)
    *middle, last = others
    return Glob((first, *filter(None, middle), last), question)


def _find_with_question(piece: str, text: str, at: int) -> int:
    """Where the text first matches a piece with question marks; -1 if nowhere.

    Shift-And: bit n of `state` says that the first n + 1 characters of the piece match the text that ends here. All
    of them advance at once, so the time is that of one pass over the text.
    """
    if len(piece) > _LONGEST_WITH_QUESTION:
        return -1
    any_character = sum(1 << place for place, wanted in enumerate(piece) if wanted == "?")
    matching: dict[str, int] = {}
    for place, wanted in enumerate(piece):
        matching[wanted] = matching.get(wanted, any_character) | 1 << place
    complete = 1 << len(piece) - 1
    state = 0
    for place in range(at, len(text)):
        state = (state << 1 | 1) & matching.get(text[place], any_character)
        if state & complete:
            return place - len(piece) + 1
    return -1
