"""The file with the hashes of cookies, so that open pages survive a restart of the server on the same port.

Each port has its own file, so that two servers of one profile do not overwrite each other's keys. It has mode 0600, and
is beside the profile or, for a profile on a server, in the state directory of the user.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from hatbox.store.base import Store
from hatbox.ui.access_keys import StoredKeys

__all__ = ["KeyFile", "keys_path"]

logger = logging.getLogger("hatbox.ui")

_MAX_BYTES: Final = 1 << 16


def keys_path(store: Store, port: int) -> Path:
    """The path of the file of a profile and a port."""
    beside = store.side_file(f"ui-{port}.json")
    if beside is not None:
        return beside
    name = re.sub(r"[^\w.-]+", "_", store.label)
    return Path(platformdirs.user_state_dir("hatbox", appauthor=False)) / f"{name}-ui-{port}.json"


class KeyFile:
    """The stored keys of the servers of one profile on one port. A damaged file counts as an empty one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> StoredKeys | None:
        """The keys of the last server."""
        try:
            with self._path.open("rb") as file:
                return _decode(file.read(_MAX_BYTES))
        except (OSError, msgspec.DecodeError):
            return None

    def save(self, keys: StoredKeys) -> None:
        """Replace the keys. A file that cannot be written is reported, and pages need a new link."""
        temporary = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(keys))
            temporary.replace(self._path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            logger.warning("manager page: writing %s failed: %s", self._path, error)

    def delete(self) -> None:
        """Delete the keys: no page is open."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("manager page: deleting %s failed: %s", self._path, error)


_decode = msgspec.json.Decoder(StoredKeys).decode
