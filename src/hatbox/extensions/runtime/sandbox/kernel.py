"""System calls that Python has no function for. Knows how to make one, not what it does."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

__all__ = ["prctl", "system_call"]


def system_call(number: int, *arguments: Any) -> int:
    """Make a system call by its number; raises OSError with what the kernel returns."""
    return _checked(_library().syscall(ctypes.c_long(number), *map(_as_argument, arguments)))


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2) for the calling thread; raises OSError."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return _checked(_library().prctl(option, *map(_as_argument, padded)))


def _as_argument(value: Any) -> Any:
    """The kernel reads whole registers: an int that is passed as a C int would leave the upper half undefined."""
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
