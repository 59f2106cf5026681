"""The log of a background engine: a file beside the profile while the engine runs.

An engine that shuts down cleanly, and has logged only that it was ready, removes its log. Every other log is moved to
the user's log folder, by the engine itself or by the next command that looks for an engine, and its path is reported.

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

from hatbox.cli.terminal.output import print_line
from hatbox.engines.lease import running_engine
from hatbox.store.base import Store
from hatbox.store.lease import LeaseHolder

if sys.platform == "win32":  # a file that another process has open can neither be moved nor removed

    def _share(descriptor: int) -> None:
        pass

    def _own(descriptor: int) -> None:
        pass
else:
    import fcntl

    def _share(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    def _own(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["READY", "discard", "engine_of", "leave", "log_folder", "log_of", "open_log", "set_aside"]

READY: Final = "ready"
"""The event that an engine logs when it is ready for tabs."""

_LONGEST: Final = 2**18  # bytes; of a longer log the end is stored
_MOST: Final = 10  # logs in the log folder; the oldest are removed


def log_of(store: Store) -> Path:
    """The path of the log of a running engine: beside the profile, or in the log folder."""
    name = re.sub(r"[^\w.-]+", "_", store.label)
    return store.side_file("engine.log") or log_folder() / f"{name}-engine.log"


def log_folder() -> Path:
    """The folder for the logs of engines that have ended."""
    return Path(platformdirs.user_log_dir("hatbox", appauthor=False))


async def engine_of(store: Store, *, as_json: bool) -> LeaseHolder | None:
    """The running engine of a profile, if there is one. Reports the path of the log of a killed engine."""
    holder = await running_engine(store)
    stored = set_aside(log_of(store)) if holder is None else None
    if stored is not None and not as_json:
        print_line(f"The last background engine did not shut down cleanly. Its log is {stored}", sys.stderr)
    return holder


def open_log(log: Path) -> int:
    """Open the log for appending and reading. It is locked until all copies of the descriptor are closed."""
    while True:
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        _share(descriptor)
        if _is_at(descriptor, log):
            return descriptor
        os.close(descriptor)  # moved away after it was opened


def set_aside(log: Path) -> Path | None:
    """Move a log without a writer to the log folder; returns its new path.

    If it cannot be moved, it stays.
    """
    with _owned(log) as content:
        if content:
            return _moved(log, content)
        if content is not None:
            _removed(log)
        return None


def discard(log: Path) -> None:
    """Remove a log without a writer."""
    with _owned(log) as content:
        if content is not None:
            _removed(log)


def leave(log: Path) -> None:
    """Called when an engine ends: if its output goes to this log, and no other process writes to it, store the log."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        if _is_at(descriptor, log):
            sys.stdout.flush()
            _own(descriptor)
            content = log.read_bytes()
            if all(map(_is_routine, content.splitlines())):
                _removed(log)
            else:
                _moved(log, content)


@contextlib.contextmanager
def _owned(log: Path) -> Iterator[bytes | None]:
    """Open a log without a writer, locked; None if it has a writer, or does not exist."""
    content = None
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file = stack.enter_context(log.open("rb"))
            _own(file.fileno())
            if _is_at(file.fileno(), log):
                content = file.read()
                if sys.platform == "win32":
                    file.close()
        yield content


def _moved(log: Path, content: bytes) -> Path | None:
    """Move a log, also to another file system. Its name has that of the profile, and the time of its last write."""
    try:
        written = datetime.fromtimestamp(log.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        folder = log_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = _new_file(folder, f"{log.stem}-{written}", content[-_LONGEST:])
    except OSError:
        return None
    _removed(log)
    with contextlib.suppress(OSError):
        for old in sorted(folder.glob("*-engine-*.log"), key=lambda each: each.stat().st_mtime)[:-_MOST]:
            old.unlink()
    return target


def _new_file(folder: Path, name: str, content: bytes) -> Path:
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


def _removed(log: Path) -> None:
    with contextlib.suppress(OSError):
        log.unlink()


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _is_routine(line: bytes) -> bool:
    """Whether a line only reports that the engine was ready."""
    try:
        return msgspec.json.decode(line, type=dict[str, object]).get("event") == READY
    except msgspec.DecodeError:
        return False
