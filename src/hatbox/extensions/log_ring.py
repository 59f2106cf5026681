"""The last console lines of a running extension, in memory. Bounded, whatever the extension prints. Pure."""

from __future__ import annotations

import re
import secrets
from collections import deque
from typing import Final

from hatbox.extension_data.log_watching import LogLine, LogRecord
from hatbox.extensions.runtime import LogEntry
from hatbox.javascript.text import well_formed

__all__ = ["LogRing", "shown_text"]

_BASE: Final = re.compile(r"moz-extension://[0-9a-f-]{36}/")  # paths are shown relative to the extension
_MAX_LINES: Final = 200
_MAX_CHARACTERS: Final = 32_768  # of all lines
_MAX_LINE: Final = 2_000
_MAX_BATCH: Final = 100  # lines between two records: of more, the last ones are stored


def shown_text(entry: LogEntry, limit: int) -> str:
    """A line as it is shown: with paths relative to the extension, and at most so many characters."""
    text = _BASE.sub("", str(entry)[: 2 * limit])
    if len(text) > limit:
        text = f"{text[:limit]}…"
    return well_formed(text)


class LogRing:
    """The last lines of one run."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(8)
        self._lines: deque[LogLine] = deque()
        self._size = 0
        self._count = 0  # of all lines so far
        self._recorded = 0  # the number of the last line in a record

    def add(self, entry: LogEntry, time: float) -> None:
        """Add a line."""
        self._append(entry.level, shown_text(entry, _MAX_LINE), time)

    @property
    def has_new(self) -> bool:
        """Whether lines were added since the last record."""
        return self._count > self._recorded

    def record(self) -> LogRecord:
        """The last lines. Of a flood since the last record, the first lines are left out, and one says how many."""
        first = self._count - _MAX_BATCH
        if first > self._recorded:
            self._cut(first)
        self._recorded = self._count
        return LogRecord(self._run, tuple(self._lines))

    def _cut(self, first: int) -> None:
        """Replace the lines between the last record and the number `first` by one line."""
        lines = [each for each in self._lines if not self._recorded < each.number <= first]
        place = sum(each.number <= self._recorded for each in lines)
        dropped = first - self._recorded
        time = lines[place].time if place < len(lines) else 0.0
        lines.insert(place, LogLine(first, time, "warn", f"… {dropped} lines dropped"))
        self._lines = deque(lines)
        self._size = sum(len(each.text) for each in lines)

    def _append(self, level: str, text: str, time: float) -> None:
        self._count += 1
        self._lines.append(LogLine(self._count, time, level, text))
        self._size += len(text)
        while len(self._lines) > _MAX_LINES or self._size > _MAX_CHARACTERS:
            self._size -= len(self._lines.popleft().text)
