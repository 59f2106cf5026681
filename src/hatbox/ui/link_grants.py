"""Links to a running server that another process of its user has created. Nothing is sent between the two.

A link is an empty file, named after the hash of its token. The server deletes it when the link is opened, so it works
once. Who can create such a file can also write the profile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from hatbox.ui.access_keys import TOKEN_LIFETIME
from hatbox.ui.private_files import is_private

__all__ = ["LinkGrants"]

_MAX_GRANTS: Final = 64


class LinkGrants:
    """The unused links. Names of their files start with the last part of `path`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock

    @property
    def pending(self) -> bool:
        """Whether a link is unused and not expired."""
        return any(self._is_valid(each) for each in self._files())

    def create(self, token_hash: str) -> None:
        """Add a link. Expired ones are deleted, and the oldest ones of too many. Raises OSError."""
        self._prune()
        os.close(os.open(self._of(token_hash), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def take(self, token_hash: str) -> bool:
        """Whether it is an unused link, which is used then."""
        path = self._of(token_hash)
        is_valid = self._is_valid(path)
        try:
            path.unlink()
        except OSError:
            return False
        return is_valid

    def _prune(self) -> None:
        files = sorted(self._files(), key=lambda each: (self._is_valid(each), _created(each)))
        valid = [each for each in files if self._is_valid(each)][-_MAX_GRANTS + 1 :]
        for path in files:
            if path not in valid:
                with suppress(OSError):
                    path.unlink()

    def _is_valid(self, path: Path) -> bool:
        try:
            status = path.lstat()
        except OSError:
            return False
        return is_private(status) and abs(self._clock() - status.st_mtime) < TOKEN_LIFETIME

    def _of(self, token_hash: str) -> Path:
        return self._path.with_name(self._path.name + token_hash)

    def _files(self) -> Iterator[Path]:
        with suppress(OSError), os.scandir(self._path.parent) as found:
            yield from [Path(each.path) for each in found if each.name.startswith(self._path.name)]


def _created(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0
