"""Landlock: restricts the calling thread, and processes that it starts, to some files; denies TCP and signals.

Knows the kernel's interface and its versions, not what Deno needs. Descriptors that are open already stay usable.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from hatbox.extensions.runtime.sandbox.kernel import system_call

__all__ = ["SCOPES_SIGNALS", "restrict_files", "version"]

# The same numbers on every architecture.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_CREATE_RULESET_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1

_EXECUTE: Final = 1 << 0
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_TRUNCATE: Final = 1 << 14
_IOCTL_DEV: Final = 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ: Final = _READ_FILE | _READ_DIR

# How many rights for files the kernel knows, by version: REFER came with 2, TRUNCATE with 3, IOCTL_DEV with 5.
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_ALL_RIGHTS: Final = 16
_TCP_FROM: Final = 4
_TCP: Final = 0b11  # bind, connect
SCOPES_SIGNALS: Final = 6
"""The version from which a restricted process can signal only processes of its own domain."""
_SCOPES: Final = 0b11  # abstract Unix sockets, signals


def version() -> int:
    """The Landlock ABI version of the kernel. Raises OSError if the kernel has none, or if it is disabled."""
    return system_call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)


def restrict_files(
    *,
    read: Iterable[str],
    execute: Iterable[str] = (),
    write: Iterable[str] = (),
    tcp: bool = False,
) -> int:
    """Restrict the calling thread permanently to these files and folders; returns the ABI version that was used.

    `execute` may be read too; in `write` everything but execution is allowed. Paths that do not exist are skipped. With
    `tcp`, TCP stays allowed. no_new_privs must have been set. Raises OSError, and then nothing is restricted.
    """
    supported = version()
    handled = (1 << _RIGHTS.get(supported, _ALL_RIGHTS)) - 1
    net = _TCP if supported >= _TCP_FROM and not tcp else 0
    fields = [handled]
    if supported >= _TCP_FROM:
        fields.append(net)
    if supported >= SCOPES_SIGNALS:
        fields.append(_SCOPES)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = system_call(_CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for paths, rights in ((read, _READ), (execute, _READ | _EXECUTE), (write, handled & ~_EXECUTE)):
            for path in paths:
                with suppress(FileNotFoundError):
                    _allow(ruleset, path, rights & handled)
        system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return supported


def _allow(ruleset: int, path: str, rights: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, beneath)
        system_call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(beneath)
