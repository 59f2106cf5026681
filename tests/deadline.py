"""A limit for code whose time must not explode: milliseconds where it is right, hours where it is not.

The limit is far from both, so that no load of the machine decides a test.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class TooSlow(Exception):
    """The body has not ended in time."""


@contextlib.contextmanager
def ends_in_time(seconds: float = 60) -> Iterator[None]:
    """Raise TooSlow in the body, in the main thread, when its time is over. Regular expressions are interrupted too."""

    def ring(*_: object) -> None:
        raise TooSlow(f"it has not ended within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
