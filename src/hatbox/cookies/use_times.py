"""Which times of cookies are uses. A cookie from a file without times was not used here. Pure.

Eviction needs a time of every cookie, and an imported one counts as new. So it gets the time of the import, with a
fraction of a second that marks it. The first request with the cookie replaces it.
"""

from __future__ import annotations

from math import floor
from typing import Final

__all__ = ["NOT_USED", "is_use", "time_without_use"]

NOT_USED: Final = 2**-11
"""The fraction of a second of a last access that is not a use. No multiple of a microsecond has it."""


def time_without_use(now: float) -> float:
    """The last access of a cookie that is stored now and was not used."""
    return floor(now) - 1 + NOT_USED


def is_use(last_access: float) -> bool:
    """Whether the cookie was used at its last access."""
    return last_access > 0 and last_access % 1 != NOT_USED
