"""Reads files that other programs wrote: bounded, and never waiting for one that is not a file.

A device or a named pipe in the place of a file would never end, or block for ever.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO, Final

from hatbox.errors import InvalidInputFile

__all__ = ["MAX_INPUT_BYTES", "open_regular", "read_input_file", "read_stream"]

MAX_INPUT_BYTES: Final = 2**30
_DESCRIPTOR: Final = re.compile(r"/dev/stdin|/(dev|proc/self)/fd/[0-9]+")
_NON_BLOCKING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_input_file(path: str | Path) -> bytes:
    """The content of a file, or of an open descriptor such as `/dev/fd/63`. Raises OSError, InvalidInputFile."""
    if _DESCRIPTOR.fullmatch(str(path)):  # what a shell passes for <(command)
        with Path(path).open("rb") as stream:
            return read_stream(stream, str(path))
    with open_regular(Path(path)) as file:
        return read_stream(file, str(path))


def read_stream(stream: BinaryIO, source: str) -> bytes:
    """All bytes of a stream. Raises InvalidInputFile if it is longer than MAX_INPUT_BYTES."""
    data = stream.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise InvalidInputFile(source, f"larger than {MAX_INPUT_BYTES // 2**20} MB")
    return data


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading. Raises InvalidInputFile for anything but a file: a pipe, a device, a folder."""
    if path.is_dir():
        raise InvalidInputFile(str(path), "a folder, not a file")
    descriptor = os.open(path, os.O_RDONLY | _NON_BLOCKING)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or socket"
        raise InvalidInputFile(str(path), f"{kind}, not a file. Pass - and redirect standard input to read from it")
    return os.fdopen(descriptor, "rb")
