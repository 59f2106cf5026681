"""Removes secret values from text, also where it spells them with escapes of URLs, HTML, JSON or JavaScript. Pure.

Takes time in proportion to the text, however many values there are: sites choose both.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

__all__ = ["MIN_VALUE", "HiddenValues"]

MIN_VALUE: Final = 8
"""Characters of the shortest value that is removed: shorter ones are ordinary words and numbers."""

_MAX_LAYERS: Final = 3  # escapes within escapes: JSON in an attribute, a URL in JSON
_MAX_NESTED: Final = 16  # values that are the start of each other; only a site that wants to be slow has more
_LONGEST_ESCAPE: Final = len("&#x002F;")
_SPACE: Final = re.compile(r"\s+")
_ESCAPE: Final = re.compile(
    rb"\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\x[0-9A-Fa-f]{2}|\\[!-~]|%[0-9A-Fa-f]{2}"
    rb"|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
)
_MAX_CODE_POINT: Final = 0x10FFFF


class HiddenValues:
    """Values that are removed from text."""

    def __init__(self, values: Iterable[str], marker: str) -> None:
        self._marker = marker.encode()
        self._forms = sorted({form for value in values for form in _forms(value)})
        self._starts = {each[:MIN_VALUE] for each in self._forms}
        self._longest = max(map(len, self._forms), default=0)
        self._shorter = _shorter_forms(self._forms)

    @property
    def longest(self) -> int:
        """Characters of the longest spelling of a value: the end of a text that was cut may be the start of it."""
        return self._longest * _LONGEST_ESCAPE

    def hide(self, text: str) -> str:
        """The text with the marker in place of each value."""
        if not self._forms:
            return text
        encoded = _encoded(text)
        parts, end = [], 0
        for start, stop in _merged(self._found(encoded)):
            parts += [encoded[end:start], self._marker]
            end = stop
        return _decoded(b"".join(parts) + encoded[end:]) if parts else text

    def _found(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where values start and end, in the text as it is and without its escapes."""
        places: Sequence[int] = range(len(text) + 1)
        for layer in range(_MAX_LAYERS + 1):
            if layer:
                if _ESCAPE.search(text) is None:
                    return
                text, places = _unescaped(text, places)
            for start in range(len(text) - MIN_VALUE + 1):
                if text[start : start + MIN_VALUE] in self._starts and (length := self._length_at(text, start)):
                    yield places[start], places[start + length]

    def _length_at(self, text: bytes, start: int) -> int:
        """The length of the longest value that starts here; 0 if none does."""
        part = text[start : start + self._longest]
        index = bisect_right(self._forms, part) - 1
        for _ in range(_MAX_NESTED):
            if index < 0:
                break
            if part.startswith(self._forms[index]):
                return len(self._forms[index])
            index = self._shorter[index]
        return 0


def _forms(value: str) -> Iterator[bytes]:
    """A value as it is and without its own escapes, which a site may have decoded before it shows the value."""
    layers = latest = {_encoded(value), _encoded(_as_utf_8(value))}
    for _ in range(_MAX_LAYERS):
        latest = {decoded for each in latest for decoded in (_unquoted(each), _plain(each))} - layers
        layers = layers | latest
    for each in layers:
        # White space as in URLs and in HTML; quotes as in snapshots.
        for shown in {each, each.replace(b" ", b"+"), _with_single_spaces(each), each.replace(b"'", b"''")}:
            if len(_decoded(shown)) >= MIN_VALUE:
                yield shown


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: bytes) -> str:
    """The text. A value may be found inside a character: the rest of it becomes U+FFFD."""
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeError:
        return text.decode("utf-8", "replace")


def _unquoted(value: bytes) -> bytes:
    """Without the escapes of URLs, as texts: a byte that is in no character is shown as U+FFFD."""
    return _encoded(unquote(_decoded(value)))


def _with_single_spaces(value: bytes) -> bytes:
    return _encoded(_SPACE.sub(" ", _decoded(value)))


def _as_utf_8(value: str) -> str:
    """The text of a value that has a character for each byte, as in headers; else the value."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _plain(value: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: _meaning(found[0]), value)


def _shorter_forms(forms: Sequence[bytes]) -> list[int]:
    """For each of the sorted forms, the index of the longest other one with which it starts; -1 for none."""
    shorter: list[int] = []
    open_forms: list[int] = []
    for index, form in enumerate(forms):
        while open_forms and not form.startswith(forms[open_forms[-1]]):
            open_forms.pop()
        shorter.append(open_forms[-1] if open_forms else -1)
        open_forms.append(index)
    return shorter


def _merged(found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The intervals, with one for those that overlap."""
    last: tuple[int, int] | None = None
    for start, stop in sorted(found):
        if last is not None and start < last[1]:
            last = (last[0], max(stop, last[1]))
        else:
            if last is not None:
                yield last
            last = (start, stop)
    if last is not None:
        yield last


def _unescaped(text: bytes, places: Sequence[int]) -> tuple[bytes, list[int]]:
    """The text with the meaning of each escape, and for each byte its place in the original text."""
    parts: list[bytes] = []
    shown: list[int] = []
    end = 0
    for found in _ESCAPE.finditer(text):
        meaning = _meaning(found[0])
        parts += [text[end : found.start()], meaning]
        shown += places[end : found.start()]
        shown += [places[found.start()]] * len(meaning)
        end = found.end()
    parts.append(text[end:])
    shown += places[end:]
    return b"".join(parts), shown


def _meaning(escape: bytes) -> bytes:
    if escape.startswith(b"%"):
        return bytes([int(escape[1:], 16)])
    if escape.startswith(b"&"):
        return html.unescape(escape.decode()).encode("utf-8", "surrogatepass")
    if len(escape) == len(rb"\/"):
        return escape[1:]
    code = int(escape[2:].strip(b"{}"), 16)
    return chr(code).encode("utf-8", "surrogatepass") if code <= _MAX_CODE_POINT else escape
