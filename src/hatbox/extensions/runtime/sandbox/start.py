"""Starts a program in the sandbox, from a thread that restricts itself first and then ends. The host is not restricted.

`preexec_fn` is not safe in a host with threads, and a launcher program would take longer to start than Deno.
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
    """Start a program with these layers. Raises OSError, and starts nothing, if a layer cannot be applied."""
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
    """Pause garbage collection: finalizers of the host, which may close a database, must not run restricted."""
    with _ONE_AT_A_TIME:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()
