"""The last console lines of a running extension, in the profile while a program watches them. Transaction functions.

The program that watches stores a record with an expiry. Meanwhile the process that runs the extension stores its last
lines, which are deleted when nothing watches them any more.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "LOGGED",
    "LOG_WATCHED",
    "MAX_WATCH_SECONDS",
    "RUN_KINDS",
    "LogLine",
    "LogRecord",
    "end_log",
    "end_unused_logs",
    "read_log",
    "store_log",
    "watch_log",
    "watched_until",
]

LOG_WATCHED: Final = "extensions.logWatched"
"""The topic of a program that starts to watch. The payload is a data area."""
LOGGED: Final = "extensions.logged"
"""The topic of new lines. The payload is a data area."""
MAX_WATCH_SECONDS: Final = 30.0
"""The time after which a watch has to be renewed."""

_LINES: Final = "log.lines"
_WATCHERS: Final = "log.watchers"
RUN_KINDS: Final = (_LINES,)
"""The kinds of records that end with a run."""


class LogLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of the console."""

    number: int
    """Counts the lines of a run."""
    time: float
    """In seconds since 1970."""
    level: str
    """log, info, debug, warn or error."""
    text: str


class LogRecord(msgspec.Struct, frozen=True):
    """The last lines of a run."""

    run: str = ""
    """Random: line numbers of another run start again."""
    lines: tuple[LogLine, ...] = ()


def watch_log(transaction: Transaction, area: str) -> LogRecord:
    """Store the lines of an extension for the next 30 seconds, or renew that. Returns the lines so far."""
    now = transaction.time()
    process = transaction.processes.current
    key = f"{process.host} {process.pid}"
    transaction.extensions.put(area, _WATCHERS, key, msgspec.json.encode(now + MAX_WATCH_SECONDS))
    known = transaction.extensions.get(area, _LINES, "")
    if known is None:
        transaction.changes.append(LOG_WATCHED, msgspec.json.encode(area))
        return LogRecord()
    return _decode(known)


def watched_until(transaction: Transaction, area: str) -> float | None:
    """When the last watch ends; None without a watch."""
    now = transaction.time()
    ends = [msgspec.json.decode(value, type=float) for _, _, value in transaction.extensions.find(_WATCHERS, area)]
    # An end beyond the limit was stored while the clock was wrong.
    return max((end for end in ends if now < end <= now + MAX_WATCH_SECONDS), default=None)


def store_log(transaction: Transaction, area: str, record: LogRecord) -> float | None:
    """Store the last lines, if they are watched; else delete them. Returns when the last watch ends."""
    until = watched_until(transaction, area)
    if until is None:
        end_log(transaction, area)
        return None
    transaction.extensions.put(area, _LINES, "", msgspec.json.encode(record))
    transaction.changes.append(LOGGED, msgspec.json.encode(area))
    return until


def end_log(transaction: Transaction, area: str) -> None:
    """Delete the lines and the expired watches."""
    transaction.extensions.clear(area, _LINES)
    if watched_until(transaction, area) is None:
        transaction.extensions.clear(area, _WATCHERS)


def end_unused_logs(transaction: Transaction, running: Collection[str]) -> None:
    """The same for all extensions that are not running: a program that was killed leaves its watches."""
    for area in {area for area, _, _ in transaction.extensions.find(_WATCHERS)}.difference(running):
        end_log(transaction, area)


def read_log(transaction: Transaction, area: str) -> LogRecord:
    """The stored lines."""
    known = transaction.extensions.get(area, _LINES, "")
    return LogRecord() if known is None else _decode(known)


_decode = msgspec.json.Decoder(LogRecord).decode
