"""The log of a background engine: a file beside the profile while the engine runs.

An engine that shuts down cleanly, and has logged only that it was ready, removes its log. Every other log is moved to
the user's log directory: by the engine itself, or by the next command that checks for a running engine.

Every process that writes to a log has a shared lock on it. So a log that can be locked exclusively has no writer, and
the log of a running engine is never moved or removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from hatbox.new_files import open_regular
from hatbox.store.base import Store

if sys.platform == "win32":  # a file that another process has open can neither be moved nor removed

    def _lock_shared(descriptor: int) -> None:
        pass

    def _lock_exclusively(descriptor: int) -> None:
        pass
else:
    import fcntl

    def _lock_shared(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    def _lock_exclusively(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["READY", "EngineLog", "log_folder"]

READY: Final = "ready"
"""The event that an engine logs when it is ready for tabs."""

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND
_MAX_BYTES: Final = 2**18  # of a longer log, the end is archived
_MAX_LOGS: Final = 10  # in the log directory; the oldest are removed


def log_folder() -> Path:
    """The directory for the logs of engines that have exited."""
    return Path(platformdirs.user_log_dir("hatbox", appauthor=False))


class EngineLog:
    """The log of the background engine of one profile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file while the engine runs."""

    @classmethod
    def of(cls, store: Store) -> EngineLog:
        """The log of a profile: beside it, or in the log directory if its store has no local files."""
        name = re.sub(r"[^\w.-]+", "_", store.label)
        return cls(store.side_file("engine.log") or log_folder() / f"{name}-engine.log")

    def open(self) -> int:
        """Open the log for appending and reading. It is locked until all copies of the descriptor are closed."""
        if self.path.parent == log_folder():
            _create_log_folder()
        while True:
            descriptor = open_regular(self.path, _FLAGS)
            _lock_shared(descriptor)
            if self._is_open_as(descriptor):
                return descriptor
            os.close(descriptor)  # it was moved after it was opened

    def archive(self) -> Path | None:
        """Move a log without a writer to the log directory; returns its new path.

        Returns None if there is no log, if a process writes to it, or if it cannot be moved.
        """
        with self._exclusive_content() as content:
            if content:
                return self._move(content)
            if content is not None:
                self._remove()
            return None

    def discard(self) -> None:
        """Remove a log without a writer."""
        with self._exclusive_content() as content:
            if content is not None:
                self._remove()

    def finish(self) -> None:
        """Remove or archive the log if it is this process's output, and no other process writes to it."""
        with contextlib.suppress(OSError, ValueError):
            descriptor = sys.stdout.fileno()
            if self._is_open_as(descriptor):
                sys.stdout.flush()
                _lock_exclusively(descriptor)
                content = self.path.read_bytes()
                if all(map(_is_routine, content.splitlines())):
                    self._remove()
                else:
                    self._move(content)

    @contextlib.contextmanager
    def _exclusive_content(self) -> Iterator[bytes | None]:
        """Lock a log without a writer, and read it; None if it has a writer, or does not exist."""
        content = None
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                file = stack.enter_context(os.fdopen(open_regular(self.path, os.O_RDONLY), "rb"))
                _lock_exclusively(file.fileno())
                if self._is_open_as(file.fileno()):
                    content = file.read()
                    if sys.platform == "win32":
                        file.close()
            yield content

    def _move(self, content: bytes) -> Path | None:
        """Move the log, also to another file system. The new name has the profile's name and the time of the last
        write."""
        try:
            written = datetime.fromtimestamp(self.path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
            folder = _create_log_folder()
            target = _write_new(folder, f"{self.path.stem}-{written}", content[-_MAX_BYTES:])
        except OSError:
            return None
        self._remove()
        with contextlib.suppress(OSError):
            for old in sorted(folder.glob("*-engine-*.log"), key=lambda each: each.stat().st_mtime)[:-_MAX_LOGS]:
                old.unlink()
        return target

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _is_open_as(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except OSError:
            return False


def _create_log_folder() -> Path:
    folder = log_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _write_new(folder: Path, name: str, content: bytes) -> Path:
    number = 1
    while True:
        target = folder / (f"{name}.log" if number == 1 else f"{name}-{number}.log")
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return target


def _is_routine(line: bytes) -> bool:
    """Whether a line only reports that the engine was ready."""
    try:
        return msgspec.json.decode(line, type=dict[str, object]).get("event") == READY
    except msgspec.DecodeError:
        return False
