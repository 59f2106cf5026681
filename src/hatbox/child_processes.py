"""The processes that this program has started and that must not outlive it, such as a browser. Knows none by name.

A process that continues after this program, such as a background engine that is ready, is not listed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = [
    "add",
    "children",
    "continue_all",
    "descendants",
    "foreign_environment",
    "kill_all",
    "kill_tree",
    "remove",
    "running",
    "start_time",
]

_SECRET_VARIABLES: Final = ("HATBOX_", "PGPASS")
_START_TIME_FIELD: Final = 19  # of /proc/PID/stat, counted after the name of the program
_ENDED_STATES: Final = "ZX"  # a process whose parent has not read its exit status yet
_QUERY_LIMITED_INFORMATION: Final = 0x1000  # Windows: PROCESS_QUERY_LIMITED_INFORMATION
_ROUNDS: Final = 100
_ROUND_SECONDS: Final = 0.01
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL; its SIGTERM kills

_listed: dict[int, tuple[str, str | None]] = {}  # names and start times, because process ids are reused


def foreign_environment() -> dict[str, str]:
    """The environment for a program that is not Hatbox: without keys, passphrases, tokens and passwords of a profile.

    Its own children inherit it, and reports of its crashes have it.
    """
    return {name: text for name, text in os.environ.items() if not name.startswith(_SECRET_VARIABLES)}


def add(pid: int, name: str) -> None:
    """List a process, with a name for users. Those that have ended are deleted from the list."""
    ended = _listed.keys() - running()
    for each in ended:
        del _listed[each]
    _listed[pid] = name, start_time(pid)


def remove(pid: int) -> None:
    """Delete a process from the list: it continues after this program. Twice is no error."""
    _listed.pop(pid, None)


def running() -> dict[int, str]:
    """The names of the listed processes that have not ended."""
    return {pid: name for pid, (name, started) in [*_listed.items()] if _is_running(pid, started)}


def continue_all() -> None:
    """Continue the listed processes, and those that they have started: one that is stopped cannot end in order."""
    if sys.platform != "win32":
        for pid in running():
            for each in (pid, *descendants(pid)):
                _signal(each, signal.SIGCONT)


def kill_all() -> None:
    """Kill the listed processes, and those that they have started."""
    for pid in running():
        kill_tree(pid)


def kill_tree(pid: int) -> None:
    """Kill a process, and on Linux also those that it has started. Waits until these have ended, a second at most."""
    started = {each: start_time(each) for each in descendants(pid)}
    _signal(pid, _KILL)
    for _ in range(_ROUNDS):
        left = [each for each, time_ in started.items() if _is_running(each, time_)]
        if not left:
            return
        for each in left:
            started |= {more: start_time(more) for more in descendants(each)}  # started meanwhile
            _signal(each, _KILL)
        time.sleep(_ROUND_SECONDS)


def descendants(pid: int | str) -> Iterator[int]:
    """The processes that a process has started, those that these have started, and so on. Only on Linux."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def children(pid: int | str) -> Iterator[int]:
    """The processes that a process has started. Only on Linux."""
    with contextlib.suppress(OSError):  # it has ended meanwhile
        for listed in [*Path(f"/proc/{pid}/task").glob("*/children")]:
            with contextlib.suppress(OSError):
                yield from map(int, listed.read_text("ascii").split())


def _is_running(pid: int, started: str | None) -> bool:
    return started is not None and start_time(pid) == started


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


if sys.platform == "win32":

    def start_time(pid: int) -> str | None:
        """Empty, because it is not read on Windows; None if no such process is running."""
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid)
        if not handle:
            return None
        kernel.CloseHandle(handle)
        return ""
else:

    def start_time(pid: int) -> str | None:
        """When a local process was started; empty on systems without /proc, None if no such process is running."""
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass  # a process of another user
        try:
            stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        except OSError:
            return ""
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in _ENDED_STATES else fields[_START_TIME_FIELD]
