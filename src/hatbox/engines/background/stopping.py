"""Stops engines of other processes: only processes of this machine and, unless forced, of this user.

An engine that receives SIGTERM saves the state of its pages and exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.engines.running_engines import RunningEngine
from hatbox.store.processes import ProcessId

__all__ = ["Refusal", "refusal", "stop_process"]

_POLL_SECONDS: Final = 0.05


class Refusal(NamedTuple):
    """Why the process of an engine is not stopped, and what to do, in sentences without a full stop at the end."""

    reason: str
    option: str = ""
    """What else to do in a terminal."""


def refusal(engine: RunningEngine, *, force: bool) -> Refusal | None:
    """Why the process of an engine is not stopped; None if it may be."""
    process = engine.process
    if process is None:
        return Refusal("its process is not known yet. Try again")
    if not process.is_local:
        return Refusal(f"it runs on {process.machine}. Stop it there")
    if process.pid == os.getpid():
        return Refusal("it runs in this process")
    owner = _owner(process.pid)
    if owner is not None and owner != os.getuid() and not (force and os.getuid() == 0):
        return Refusal("its process belongs to another user")
    if not engine.background and not force:
        return Refusal("it runs in a terminal or another program. Stop it there", ", or use --force")
    return None


async def stop_process(process: ProcessId, max_time: float, *, kill: bool) -> bool:
    """Ask a local process to exit, and wait. With `kill`, kill it after `max_time` seconds. Whether it has exited.

    Raises PermissionError for a process of another user.
    """
    if _signal(process, signal.SIGTERM) and not await _wait_for_exit(process, max_time):
        if not kill:
            return False
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        return await _wait_for_exit(process, max_time)
    return True


def _signal(process: ProcessId, number: int) -> bool:
    """Send a signal, unless the process has exited and its id belongs to another one.

    On Linux the process is opened before it is compared, so that its id cannot be given to another one in between.
    """
    with contextlib.suppress(ProcessLookupError), _opened(process.pid) as descriptor:
        if not process.is_running:
            return False
        if descriptor is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(descriptor, number)
        return True
    return False


@contextlib.contextmanager
def _opened(pid: int) -> Iterator[int | None]:
    """A descriptor of a process; None if the system has none. Raises ProcessLookupError."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (AttributeError, OSError):  # not Linux, or forbidden by a sandbox
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def _wait_for_exit(process: ProcessId, max_time: float) -> bool:
    deadline = time.monotonic() + max_time
    while process.is_running and not _is_zombie(process.pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _is_zombie(pid: int) -> bool:
    """Whether it has exited, and its parent has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _owner(pid: int) -> int | None:
    """The user of a process; None if the system does not tell."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
