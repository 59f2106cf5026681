"""The file with the hashes of cookies, so that open pages survive a restart of the server on the same port.

It has mode 0600, and is beside the profile or, for a profile on a server, in the state directory of the user.
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

_MAX_BYTES: Final = 1 << 20
_MAX_PORTS: Final = 16


def keys_path(store: Store) -> Path:
    """The path of the file of a profile."""
    beside = store.side_file("ui.json")
    if beside is not None:
        return beside
    name = re.sub(r"[^\w.-]+", "_", store.label)
    return Path(platformdirs.user_state_dir("hatbox", appauthor=False)) / f"{name}-ui.json"


class KeyFile:
    """The stored keys of the servers of one profile, by port. A damaged file counts as an empty one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, port: int) -> StoredKeys | None:
        """The keys of the last server on a port."""
        return self._read().get(str(port))

    def save(self, port: int, keys: StoredKeys) -> None:
        """Replace the keys of a port. A file that cannot be written is reported, and pages need a new link."""
        others = {key: value for key, value in self._read().items() if key != str(port)}
        latest = dict(sorted(others.items(), key=lambda each: max(each[1].cookies.values(), default=0)))
        self._write({**dict(list(latest.items())[-_MAX_PORTS + 1 :]), str(port): keys})

    def delete(self, port: int) -> None:
        """Delete the keys of a port: no page is open."""
        found = self._read()
        if found.pop(str(port), None) is not None:
            self._write(found)

    def _read(self) -> dict[str, StoredKeys]:
        try:
            with self._path.open("rb") as file:
                return _decode(file.read(_MAX_BYTES))
        except (OSError, msgspec.DecodeError):
            return {}

    def _write(self, keys: dict[str, StoredKeys]) -> None:
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


_decode = msgspec.json.Decoder(dict[str, StoredKeys]).decode
