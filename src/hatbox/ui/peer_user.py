"""The user at the other end of a loopback connection, from the kernel's tables of sockets. Only on Linux.

Every user of a machine can connect to its loopback, and can read the command line of a browser, with a link in it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["can_check_users", "is_of_this_user"]

_TABLES: Final = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED: Final = "01"
_ROOT: Final = 0  # can read everything anyway; forwards connections into some virtual machines


def is_of_this_user(client_port: int, server_port: int) -> bool:
    """Whether the connection between these ports of loopback was opened by this user or by root."""
    return any(user in (os.getuid(), _ROOT) for user in _users(client_port, server_port))


def can_check_users() -> bool:
    """Whether the tables name the user of a connection. A sandbox may have empty ones."""
    if not hasattr(os, "getuid") or not _TABLES[0].exists():
        return False
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address, timeout=5) as client:
            return is_of_this_user(client.getsockname()[1], address[1])


def _users(client_port: int, server_port: int) -> Iterator[int]:
    """The users of open sockets that are connected from one port to the other. A closed socket has no user."""
    ends = f":{client_port:04X}", f":{server_port:04X}"
    for table in _TABLES:
        with suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]) and fields[3] == _ESTABLISHED:
                    yield int(fields[7])
