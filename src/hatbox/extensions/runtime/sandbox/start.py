"""Starts a program behind a wall, from a thread that goes behind it first and ends afterwards. The host stays free.

No `preexec_fn`, which is not safe in a host with threads, and no program in between, which takes longer than Deno.
"""

from __future__ import annotations

import gc
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from hatbox.extensions.runtime.sandbox.wall import Layers, Wall, enter

__all__ = ["start_behind"]

_ONE_AT_A_TIME: Final = threading.Lock()


def start_behind(wall: Wall, layers: Layers, arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program behind these layers of a wall. If one cannot be put in place, it is not started: OSError."""
    outcome: list[subprocess.Popen[bytes] | BaseException] = []

    def start() -> None:
        try:
            with _no_collection():
                enter(wall, layers)
                outcome.append(subprocess.Popen(arguments, **options))  # noqa: S603 - that is what the wall is for
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that called
            outcome.append(error)

    thread = threading.Thread(target=start, name="hatbox-wall", daemon=True)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Finalizers of the host's objects must not run behind the wall: one that closes a database could not."""
    with _ONE_AT_A_TIME:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()
