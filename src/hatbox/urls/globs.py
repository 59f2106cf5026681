"""Globs: patterns in which `*` matches any text, and optionally `?` one character. Pure text.

Scripts choose the pattern and pages the text, so matching must take linear time. The text between two stars is searched
once, from the end of the previous match: the leftmost match leaves most for the rest, so there is no backtracking.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Glob", "glob"]

_MAX_WITH_QUESTION: Final = 4096  # characters, the maximum length of a title


class Glob(NamedTuple):
    """A compiled pattern: the pieces between its stars. A pattern without a star has one piece."""

    pieces: tuple[str, ...]
    question: bool

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        first, *middle = self.pieces
        if not middle:
            return len(text) == len(first) and self._matches_piece(first, text)
        last = middle.pop()
        end = len(text) - len(last)
        at = len(first)
        if at > end or not self._matches_piece(first, text[:at]) or not self._matches_piece(last, text[end:]):
            return False
        for piece in middle:
            at = self._find(piece, text, at)
            if at < 0:
                return False
            at += len(piece)
        return at <= end

    def _matches_piece(self, piece: str, text: str) -> bool:
        """Whether a text of the same length matches a piece."""
        if not self.question or "?" not in piece:
            return piece == text
        return all(wanted in ("?", found) for wanted, found in zip(piece, text, strict=True))

    def _find(self, piece: str, text: str, at: int) -> int:
        if not self.question or "?" not in piece:
            return text.find(piece, at)
        return _find_with_question(piece, text, at)


def glob(text: str, *, question: bool) -> Glob:
    """Compile a pattern. `?` matches one character only with `question`."""
    first, *others = text.split("*")
    if not others:
        return Glob((first,), question)
    *middle, last = others
    return Glob((first, *filter(None, middle), last), question)


def _find_with_question(piece: str, text: str, at: int) -> int:
    """The index of the first match of a piece with question marks, or -1.

    Shift-And: bit n of `state` says that the first n + 1 characters of the piece match the text that ends here. All
    of them advance at once, so one pass over the text is enough.
    """
    if len(piece) > _MAX_WITH_QUESTION:
        return -1
    any_character = sum(1 << index for index, wanted in enumerate(piece) if wanted == "?")
    matching: dict[str, int] = {}
    for index, wanted in enumerate(piece):
        matching[wanted] = matching.get(wanted, any_character) | 1 << index
    complete = 1 << len(piece) - 1
    state = 0
    for index in range(at, len(text)):
        state = (state << 1 | 1) & matching.get(text[index], any_character)
        if state & complete:
            return index - len(piece) + 1
    return -1
