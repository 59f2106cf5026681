"""The file with the port of the last server and the hashes of its cookies, so that open pages survive a restart.

It has mode 0600, and is deleted when the last page was closed.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import msgspec

from hatbox.ui.access_keys import StoredKeys
from hatbox.ui.private_files import read_private, write_private

__all__ = ["KeyFile"]

logger = logging.getLogger("hatbox.ui")

_MAX_PORT: Final = 65535


class _Stored(msgspec.Struct, frozen=True):
    port: int
    keys: StoredKeys | None = None


class KeyFile:
    """The port and the keys of the last server of a profile. A damaged file counts as none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def last_port(self) -> int:
        """The port of the last server; 0 if it is not known."""
        stored = self._read()
        return stored.port if stored else 0

    def load(self, port: int) -> StoredKeys | None:
        """The keys of the last server, if it had this port: pages of another port cannot reach this one."""
        stored = self._read()
        return stored.keys if stored and stored.port == port else None

    def save(self, port: int, keys: StoredKeys | None) -> None:
        """Replace port and keys. A file that cannot be written is reported, and pages need a new link."""
        try:
            write_private(self._path, msgspec.json.encode(_Stored(port, keys)))
        except OSError as error:
            logger.warning("manager page: writing %s failed: %s", self._path, error)

    def delete(self) -> None:
        """Delete port and keys: no page is open."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("manager page: deleting %s failed: %s", self._path, error)

    def _read(self) -> _Stored | None:
        try:
            stored = _decode(read_private(self._path))
        except (OSError, msgspec.DecodeError):
            return None
        return stored if 0 < stored.port <= _MAX_PORT else None


_decode = msgspec.json.Decoder(_Stored).decode
