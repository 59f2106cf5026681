"""A cache folder of packages, so that an installed extension starts without a large read of the profile.

The cache is not trusted: an entry is used only if its contents have the hash in the profile, and it is used from
memory. For an entry that is missing, damaged or modified, get returns None, and the caller writes it again.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path
from typing import Final

import platformdirs

from hatbox.extensions.package.stored_package import MAX_PACKAGE_BYTES, digest_of
from hatbox.new_files import open_regular

__all__ = ["PackageCache", "default_folder"]

logger = logging.getLogger("hatbox.extensions")

_MAX_BYTES: Final = MAX_PACKAGE_BYTES + 1024  # files, index and header


def default_folder() -> Path:
    """The path of the cache: in $HATBOX_CACHE, else in the user's cache folder."""
    named = os.environ.get("HATBOX_CACHE")
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("hatbox", appauthor=False))
    return folder / "packages"


class PackageCache:
    """Packages by their hashes, one file each, readable by the user alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, digest: str) -> bytes | None:
        """A verified package; None if the cache does not have it, or its hash differs."""
        try:
            with os.fdopen(open_regular(self.folder / digest, os.O_RDONLY), "rb") as file:
                data = file.read(_MAX_BYTES)
        except OSError:
            return None
        return data if digest_of(data) == digest else None

    def put(self, digest: str, data: bytes) -> None:
        """Add a package. A cache that cannot be written to is no error: the profile has every package."""
        try:
            self.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            self.folder.chmod(0o700)
            self._replace(digest, data)
        except OSError as error:
            logger.info("%s cannot be written (%s); extensions start from the profile", self.folder, error)

    def _replace(self, digest: str, data: bytes) -> None:
        """Write the entry atomically, so that another process never reads a part of it."""
        import tempfile  # a slow import that is seldom needed

        descriptor, name = tempfile.mkstemp(prefix=f"{digest}.", dir=self.folder)  # readable by the user alone
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(self.folder / digest)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def remove(self, digest: str) -> None:
        """Delete a package. Another profile with the same package writes it again at the next start."""
        with contextlib.suppress(OSError):
            (self.folder / digest).unlink(missing_ok=True)
