"""Console messages and errors of extensions, as text."""

from __future__ import annotations

import re
from typing import Final

from hatbox.extensions.runtime import LogEntry

__all__ = ["log_line"]

_BASE: Final = re.compile(r"moz-extension://[0-9a-f-]{36}/")


def log_line(entry: LogEntry) -> str:
    """The message and its location, with the path relative to the extension: background.js:3:1."""
    return str(entry._replace(file=_BASE.sub("", entry.file, count=1))) if entry.file else str(entry)
