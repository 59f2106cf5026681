"""The user at the other end of a loopback connection, from the kernel's tables of sockets. Only on Linux.

Every user of a machine can connect to its loopback, and can read the command line of a browser, with a link in it.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["UserCheck", "can_check_users", "is_of_this_user", "sockets_between"]

_TABLES: Final = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED: Final = b"01"
_ROOT: Final = 0  # can read everything anyway; forwards connections into some virtual machines
_MAX_REFUSED: Final = 20
_LOOPBACK: Final = b"%08X" % int.from_bytes(bytes((127, 0, 0, 1)), sys.byteorder)
_MAPPED: Final = b"%016X%08X" % (0, int.from_bytes(bytes((0, 0, 255, 255)), sys.byteorder)) + _LOOPBACK
"""::ffff:127.0.0.1, for an IPv6 socket that is connected to 127.0.0.1."""


def is_of_this_user(client_port: int, server_port: int, tables: Sequence[Path] = _TABLES) -> bool:
    """Whether the connection between these ports of 127.0.0.1 was opened by this user or by root."""
    users = {user for user, _ in _sockets(client_port, server_port, tables)}
    return bool(users) and users <= {os.getuid(), _ROOT}


def sockets_between(client_port: int, server_port: int) -> set[int]:
    """The inodes of the client's sockets of this connection."""
    return {inode for _, inode in _sockets(client_port, server_port, _TABLES)}


class UserCheck:
    """Checks connections to one server. Reading the tables takes time, so another user cannot make it read them often.

    After `_MAX_REFUSED` refused connections in a second, all new ones are refused until the second has passed.
    """

    def __init__(
        self, check: Callable[[int, int], bool] = is_of_this_user, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._check = check
        self._clock = clock
        self._refused: deque[float] = deque(maxlen=_MAX_REFUSED)

    def accepts(self, client_port: int, server_port: int) -> bool:
        """Whether a connection between these ports is of this user."""
        now = self._clock()
        if len(self._refused) == _MAX_REFUSED and self._refused[0] > now - 1:
            return False
        if self._check(client_port, server_port):
            return True
        self._refused.append(now)
        return False


def can_check_users() -> bool:
    """Whether the tables name the user of a connection. A sandbox may have empty ones."""
    if not hasattr(os, "getuid") or not _TABLES[0].exists():
        return False
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address, timeout=5) as client:
            return is_of_this_user(client.getsockname()[1], address[1])


def _sockets(client_port: int, server_port: int, tables: Sequence[Path]) -> Iterator[tuple[int, int]]:
    """User and inode of the open sockets that are connected from one port of 127.0.0.1 to the other one.

    Sockets with the same ports and other addresses are other connections. A closed socket has no user.
    """
    ports = f":{client_port:04X}".encode(), f":{server_port:04X}".encode()
    ends = [(host + ports[0], host + ports[1]) for host in (_LOOPBACK, _MAPPED)]
    for table in tables:
        with suppress(OSError), table.open("rb") as lines:
            for line in lines:
                for client, server in ends:
                    if client in line and (fields := line.split())[1:4] == [client, server, _ESTABLISHED]:
                        yield int(fields[7]), int(fields[9])
