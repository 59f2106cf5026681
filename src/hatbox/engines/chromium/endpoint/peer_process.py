"""Whether Hatbox itself is at the other end of a loopback connection: a program of it, or what it has started. Linux.

A port without a token is for the programs of the user. An agent, an extension or a page reaches it too, by a request
that Hatbox sends for them, and would see another identity.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hatbox.loopback.peer_user import sockets_between
from hatbox.store.sqlite.lock_holders import hatbox_command

__all__ = ["is_of_hatbox"]

_PROCESSES: Final = Path("/proc")
_PARENT: Final = 1  # in the text after the name of the program


def is_of_hatbox(client_port: int, server_port: int) -> bool:
    """Whether a process at the client's end, or one that has started it, is Hatbox; also if none is found."""
    links = {f"socket:[{each}]" for each in sockets_between(client_port, server_port)}
    found = [each for each in _processes() if links & _open_links(each)]
    return not found or any(hatbox_command(each) for process in found for each in _with_parents(process))


def _processes() -> list[int]:
    return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit()]  # noqa: PTH208 - three times as fast


def _open_links(process: int) -> set[str]:
    found = set()
    with contextlib.suppress(OSError):  # it has ended, or is of another user
        for each in (_PROCESSES / str(process) / "fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                found.add(os.readlink(each))  # noqa: PTH115 - the text as it is
    return found


def _with_parents(process: int) -> Iterator[int]:
    while process > 1:
        yield process
        try:
            stat = (_PROCESSES / str(process) / "stat").read_text("utf-8", "replace")
        except OSError:
            return
        process = int(stat.rpartition(")")[2].split()[_PARENT])
