"""Checks an open profile in a thread: after an unclean shutdown, and once a week. Logs warnings, and changes nothing.

The time of the last check is an extended attribute of the file, so the check writes nothing to the profile and needs no
other file. Without extended attributes, every program that has the profile open for longer than the delay checks it. A
program that ends before its check has ended leaves the check to the next program.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hatbox.errors import HatboxError

if TYPE_CHECKING:
    from hatbox.store.sqlite.check import Examination

__all__ = ["BackgroundCheck", "last_check", "note_check"]

logger = logging.getLogger("hatbox.store")

DELAY_SECONDS: Final = 1.0  # a program that only lists identities has ended by then
_ATTRIBUTE: Final = "user.hatbox.checked"
_WEEK: Final = 7 * 24 * 60 * 60
_PAUSE_SECONDS: Final = 0.002  # after each batch, so that the program itself has priority
_STATEMENT_SECONDS: Final = 5.0  # a longer read would prevent the WAL from being truncated
_STEPS: Final = 10_000  # of SQLite's virtual machine, between two calls of the handler


def last_check(path: Path) -> float:
    """When the last check of a profile found no damage; 0 if that is not known."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            return float(os.getxattr(path, _ATTRIBUTE))
    return 0.0


def note_check(path: Path | int, when: float) -> None:
    """Store the time of a check of a file, or a descriptor. Changes neither its contents nor its modification time."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # not every file system has extended attributes
            os.setxattr(path, _ATTRIBUTE, b"%d" % when)


class _Stopped(Exception):
    pass


class BackgroundCheck:
    """One check of one open profile. Must be stopped, and have ended, before the profile's lock is released."""

    def __init__(self, path: Path, *, unclean: bool, delay: float | None = None) -> None:
        self._path = path
        self._delay = DELAY_SECONDS if delay is None else delay
        self._stopping = threading.Event()
        self._deadline = 0.0
        self._connection: sqlite3.Connection | None = None
        self._thread: threading.Thread | None = None
        if unclean:
            note_check(path, 0)  # a check is due until one has ended
        if not 0 <= time.time() - last_check(path) < _WEEK:
            self._thread = threading.Thread(target=self._run, name="hatbox-check", daemon=True)
            self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether a check is due in this program, and has not ended."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Interrupt the check. Returns without waiting for its end."""
        self._stopping.set()
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):  # closed meanwhile
                connection.interrupt()

    def join(self) -> None:
        """Wait until the check has ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        if self._stopping.wait(self._delay):
            return
        from hatbox.store.sqlite.check import connect_to_read  # a lazy import: most programs end before the check

        try:
            with contextlib.closing(connect_to_read(self._path, alone=False)) as self._connection:
                self._connection.set_progress_handler(self._must_end, _STEPS)
                examination = self._examine(self._connection)
        except _Stopped:
            return
        except (HatboxError, OSError, sqlite3.Error) as error:
            if not self._stopping.is_set():
                logger.info("%s: the check in the background could not be completed: %s", self._path, error)
            return
        finally:
            self._connection = None
        if examination.problems:
            place, problem = examination.problems[0]
            logger.warning(
                "%s: the profile is damaged (%s: %s). List the damage with: hatbox check --profile '%s'",
                *(self._path, place, problem, self._path),
            )
        else:
            note_check(self._path, time.time())

    def _examine(self, connection: sqlite3.Connection) -> Examination:
        from hatbox.store.sqlite.check import Examination

        examination = Examination(self._path, connection, self._between)
        try:
            examination.run()
        except sqlite3.OperationalError as error:
            if self._stopping.is_set() or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_INTERRUPT:
                raise
            logger.info("%s: the profile is too large to be checked whole in the background", self._path)
            examination = Examination(self._path, connection, self._between)
            examination.run(structure=False)
        return examination

    def _between(self) -> None:
        if self._stopping.wait(_PAUSE_SECONDS):
            raise _Stopped
        self._deadline = time.monotonic() + _STATEMENT_SECONDS

    def _must_end(self) -> bool:
        return self._stopping.is_set() or time.monotonic() > self._deadline
