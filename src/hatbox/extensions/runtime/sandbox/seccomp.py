"""seccomp: a filter that denies system calls that an extension's process does not need.

It is a deny list: an allow list would break with the next update of libc or Deno. A denied call fails with EPERM and
the process continues, because Deno and libc try some of these calls and work without them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Final

from hatbox.extensions.runtime.sandbox.kernel import system_call
from hatbox.extensions.runtime.sandbox.system_calls import ARCHITECTURES

__all__ = ["check_available", "filter_calls", "program"]

_SET_MODE_FILTER: Final = 1
_GET_ACTION_AVAILABLE: Final = 2
_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_ERRNO: Final = 0x00050000

_LOAD: Final = 0x20  # a word of the data
_JUMP_EQUAL: Final = 0x15
_JUMP_AT_LEAST: Final = 0x35
_JUMP_BITS: Final = 0x45
_AND: Final = 0x54
_RETURN: Final = 0x06
_NUMBER: Final = 0  # offset in struct seccomp_data
_ARCHITECTURE: Final = 4

_LISTENING: Final = ("socket", "bind", "listen")
_SIGNALS: Final = ("tgkill",)
_PARTLY: Final = ("clone", "clone3", "prlimit64", "socketpair", "fcntl", "ioctl")

_CLONE_THREAD: Final = 0x10000
_VFORK: Final = 0x4111  # CLONE_VM, CLONE_VFORK, SIGCHLD: how subprocess starts a program
_UNIX: Final = 1
_STREAM: Final = 1
_TYPE_BITS: Final = 0xF
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX = 0x8901, 0x8902, 0x5412, 0x541C

_Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if not, operand."""


def check_available() -> None:
    """Raise OSError if the kernel does not support filters, or if there is no filter for this architecture."""
    calls = ARCHITECTURES[_machine()].calls
    action = struct.pack("=I", _ERRNO)
    system_call(calls["seccomp"], _GET_ACTION_AVAILABLE, 0, ctypes.c_char_p(action))


def filter_calls(*, listen: bool = False, signals: bool = False) -> None:
    """Filter the calling thread, and the processes that it starts, permanently. no_new_privs must have been set.

    With `listen`, sockets may be opened and listen. With `signals`, tgkill is allowed: Landlock then restricts it.
    Raises OSError, and then nothing is filtered.
    """
    machine = _machine()
    code = program(machine, listen=listen, signals=signals)
    filters = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: the number of instructions, and where they are
    argument = struct.pack("@HP", len(code) // 8, ctypes.addressof(filters))
    system_call(ARCHITECTURES[machine].calls["seccomp"], _SET_MODE_FILTER, 0, ctypes.c_char_p(argument))


@cache
def program(machine: str, *, listen: bool = False, signals: bool = False) -> bytes:
    """The filter for an architecture, as the kernel takes it."""
    architecture = ARCHITECTURES[machine]
    calls = architecture.calls
    allowed = (*(_LISTENING if listen else ()), *(_SIGNALS if signals else ()), *_PARTLY)
    denied = [number for name, number in calls.items() if name not in allowed]
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture.foreign_from is not None:
        code += [(_JUMP_AT_LEAST, 0, 1, architecture.foreign_from), _deny()]
    for number in denied:
        code += [(_JUMP_EQUAL, 0, 1, number), _deny()]
    # libc then calls clone, whose flags a filter can read
    code += [(_JUMP_EQUAL, 0, 1, calls["clone3"]), _deny(errno.ENOSYS)]
    for name, block in _BLOCKS.items():
        code += [(_JUMP_EQUAL, 0, len(block), calls[name]), *block]
    code.append(_allow())
    return b"".join(struct.pack("=HBBI", *each) for each in code)


def _deny(number: int = errno.EPERM) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)


def _argument(index: int, *, upper: bool = False) -> _Instruction:
    """Load the lower half of an argument, or the upper one: both architectures are little-endian."""
    return (_LOAD, 0, 0, 16 + 8 * index + 4 * upper)


def _unless(argument: int, values: tuple[int, ...]) -> list[_Instruction]:
    """Allow the call unless an argument has one of these values."""
    code = [_argument(argument)]
    for value in values:
        code += [(_JUMP_EQUAL, 0, 1, value), _deny()]
    return [*code, _allow()]


_BLOCKS: Final[dict[str, list[_Instruction]]] = {
    # Threads, and how subprocess starts Deno: the filter is installed before that.
    "clone": [
        _argument(0),
        (_JUMP_BITS, 1, 0, _CLONE_THREAD),
        (_JUMP_EQUAL, 0, 1, _VFORK),
        _allow(),
        _deny(),
    ],
    # Only reading its own limits: root could raise them, and a user could change those of the host.
    "prlimit64": [
        _argument(0),
        (_JUMP_EQUAL, 0, 5, 0),
        _argument(2),
        (_JUMP_EQUAL, 0, 3, 0),
        _argument(2, upper=True),
        (_JUMP_EQUAL, 0, 1, 0),
        _allow(),
        _deny(),
    ],
    # A pair of datagram sockets could be connected to any Unix socket by its path.
    "socketpair": [
        _argument(0),
        (_JUMP_EQUAL, 0, 4, _UNIX),
        _argument(1),
        (_AND, 0, 0, _TYPE_BITS),
        (_JUMP_EQUAL, 0, 1, _STREAM),
        _allow(),
        _deny(),
    ],
    # The kernel signals the owner of a descriptor on I/O: the owner could be the host, and the signal SIGKILL.
    "fcntl": _unless(1, (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX)),
    # The same, and requests that insert input into a terminal.
    "ioctl": _unless(1, (_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX)),
}


def _machine() -> str:
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter for {machine}, only for {' and '.join(ARCHITECTURES)}")
    return machine
