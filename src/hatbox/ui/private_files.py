"""Files of the server that only its user may read and write, beside the profile.

Other users may have access to that folder, so a file that they have created there counts as absent.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from pathlib import Path
from typing import Final

import platformdirs

from hatbox.new_files import new_file, open_regular
from hatbox.store.base import Store

__all__ = ["is_private", "private_path", "read_private", "write_private"]

_MAX_BYTES: Final = 1 << 16


def private_path(store: Store, name: str) -> Path:
    """The path of a file of this user for a profile. For one on a server, it is in the user's state directory."""
    user = str(os.getuid()) if hasattr(os, "getuid") else _file_name(os.environ.get("USERNAME", "user"))
    beside = store.side_file(f"ui-{user}-{name}")
    if beside is not None:
        return beside
    folder = Path(platformdirs.user_state_dir("hatbox", appauthor=False))
    return folder / f"{_file_name(store.label)}-{_file_name(socket.gethostname())}-ui-{user}-{name}"


def read_private(path: Path) -> bytes:
    """The content. Raises OSError, also if it is no file of this user."""
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        if not is_private(os.fstat(file.fileno())):
            raise PermissionError(f"{path} is not a file of this user")
        return file.read(_MAX_BYTES)


def write_private(path: Path, content: bytes) -> None:
    """Replace the content as a whole. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with new_file(path, overwrite=True) as file:
        file.write(content)


def is_private(status: os.stat_result) -> bool:
    """Whether a status is that of a regular file that this user has created."""
    is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return stat.S_ISREG(status.st_mode) and is_own and status.st_nlink == 1


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text)
