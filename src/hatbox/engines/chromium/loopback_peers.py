"""Which user of this machine has opened a TCP connection on loopback. Linux only: reads /proc/net/tcp."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["belongs_to_this_user", "can_identify_peers"]

_TABLE: Final = Path("/proc/net/tcp")
_LOOPBACK: Final = "0100007F"
_LOCAL, _REMOTE, _UID = 1, 2, 7


def can_identify_peers() -> bool:
    """Whether this machine says who has opened a connection."""
    return hasattr(os, "getuid") and os.access(_TABLE, os.R_OK)


def belongs_to_this_user(peer: tuple[str, int], port: int) -> bool:
    """Whether a process of this user has opened the connection from `peer` to a port on 127.0.0.1."""
    local, remote = f"{_LOOPBACK}:{peer[1]:04X}", f"{_LOOPBACK}:{port:04X}"
    with _TABLE.open() as table:
        next(table, None)
        for line in table:
            columns = line.split()
            if columns[_LOCAL] == local and columns[_REMOTE] == remote:
                return int(columns[_UID]) == os.getuid()
    return False
