"""The folder with the backups of a profile: names, paths, and what each file is. Reads and writes no contents.

A name is one of a file in this folder, never a path. A file that exists is never replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from hatbox.archive.age_format import AGE_MAGIC
from hatbox.archive.archive_file import opened_archive
from hatbox.errors import ArchiveError, WrongPassphrase
from hatbox.store.base import Store

__all__ = ["MAX_LISTED", "BackupFile", "BackupFolder", "FolderSignature", "described_backup"]

FolderSignature: TypeAlias = frozenset[tuple[str, int, int, int]]
"""Name, size, time of the last write and inode of each file."""

MAX_LISTED: Final = 500
"""The number of files that are listed: the newest."""
_SUFFIX: Final = ".hatbox"
_MAX_NAME: Final = 120
_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]')
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_ALLOWED: Final = (
    f'Write 1 to {_MAX_NAME} characters, without slashes and without any of < > : " | ? *, '
    "and without a dot at the start or the end."
)


class BackupFile(NamedTuple):
    """A file in the folder. Times are in milliseconds since 1970."""

    name: str
    size: int
    """In bytes."""
    created: float
    """When the backup was made; of an encrypted one, when the file was written."""
    is_encrypted: bool
    """Whether a passphrase is needed."""
    is_whole: bool | None
    """Whether it contains a whole profile, and not only some identities. None if that is not known."""
    profile: str | None
    """The name of the profile that it was made of. None if that is not known."""
    problem: str | None
    """Why it cannot be restored; None if it may be."""


class BackupFolder:
    """`backups` beside a SQLite profile; else in the folder of the user's data."""

    def __init__(self, store: Store) -> None:
        self.path = (store.side_folder or _data_folder()).resolve() / "backups"

    def create(self) -> None:
        """Create the folder, only for its owner. Raises ArchiveError."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self.not_written(error) from error

    def not_written(self, error: OSError) -> ArchiveError:
        """The error of a backup that the folder or its disk does not take."""
        return self._unusable("written to", error, "Nothing was written.")

    def _unusable(self, used: str, error: OSError, effect: str = "") -> ArchiveError:
        reason = error.strerror or str(error)
        remedy = f"{_remedy(error)}, then try again.{effect and ' '}{effect}"
        failed = ArchiveError(self.path, f"backups cannot be {used} this folder ({reason})", remedy)
        failed.page_message = f"Backups cannot be {used} {self.path} ({reason}). {remedy}"  # the page has no other name
        return failed

    def new_file(self, name: str | None) -> Path:
        """The path of a new backup. Without a name, it gets one with the time. Raises ArchiveError."""
        if name is None or not name.strip():
            return self._unused(time.strftime("%Y-%m-%d %H-%M-%S"))
        name = name.strip()
        path = self._checked(name if name.lower().endswith(_SUFFIX) else f"{name}{_SUFFIX}")
        if os.path.lexists(path):
            raise ArchiveError(path.name, "a backup with this name exists already", "Choose another name.")
        return path

    def unused_file(self, name: str) -> Path:
        """The path of a new file for a backup from elsewhere. A name that exists gets a number. Raises ArchiveError."""
        return self._unused(self._checked(name).name.removesuffix(_SUFFIX))

    def existing_file(self, name: str) -> Path:
        """The path of a file in the folder. Raises ArchiveError."""
        path = self._checked(name)
        if path.is_symlink() or not path.is_file():
            raise ArchiveError(name, "it is not in the folder of backups", "It may have been deleted or renamed.")
        return path

    def list(self) -> list[BackupFile]:
        """The files in the folder, the newest first. Links, folders and hidden files are left out."""
        try:
            found = _files_in(self.path)
        except OSError as error:
            raise self._unusable("read from", error) from error
        found.sort(key=lambda each: (-each[0].st_mtime_ns, each[1]))
        return [described_backup(self.path / name, status) for status, name in found[:MAX_LISTED]]

    def signature(self) -> FolderSignature:
        """What differs after a file was added, deleted, or written in place, or the folder became readable or not."""
        try:
            return frozenset(
                (name, status.st_size, status.st_mtime_ns, status.st_ino) for status, name in _files_in(self.path)
            )
        except OSError as error:
            return frozenset([("", error.errno or 0, 0, 0)])

    def _checked(self, name: str) -> Path:
        if not _is_allowed(name):
            raise ArchiveError(ascii(name[:_MAX_NAME]), "this is not a name for a backup", _ALLOWED)
        return self.path / name

    def _unused(self, stem: str) -> Path:
        path, number = self.path / f"{stem}{_SUFFIX}", 2
        while os.path.lexists(path):
            path, number = self.path / f"{stem} {number}{_SUFFIX}", number + 1
        return path


def _remedy(error: OSError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "Move the file away that is in its place"
    if isinstance(error, PermissionError):
        return "Change its permissions"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free space on its disk"
    return "Check the folder and its disk"


def _is_allowed(name: str) -> bool:
    is_long = len(name) > _MAX_NAME + len(_SUFFIX) or len(name.encode(errors="replace")) > 255
    is_odd = name.startswith(".") or name.endswith((".", " ")) or name != name.strip()
    return not (not name or is_long or is_odd or _FORBIDDEN.search(name) or _RESERVED.fullmatch(name))


def _files_in(folder: Path) -> list[tuple[os.stat_result, str]]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _is_allowed(entry.name) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                        found.append((entry.stat(follow_symlinks=False), entry.name))
    except FileNotFoundError:
        return []
    return found


def _data_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("hatbox", appauthor=False))


def described_backup(path: Path, status: os.stat_result | None = None) -> BackupFile:
    """What a file is. `status` is that of the file, if it was read already."""
    status = status or path.stat()
    written = status.st_mtime * 1000
    try:
        with path.open("rb") as file:
            if file.read(len(AGE_MAGIC)) == AGE_MAGIC:
                return BackupFile(path.name, status.st_size, written, True, None, None, None)
        with opened_archive(path) as archive:
            manifest = archive.rows().manifest
    except (ArchiveError, OSError) as error:
        problem = error.problem if isinstance(error, ArchiveError) else (error.strerror or str(error))
        is_encrypted = isinstance(error, WrongPassphrase)
        return BackupFile(path.name, status.st_size, written, is_encrypted, None, None, problem)
    created = manifest.created * 1000
    return BackupFile(path.name, status.st_size, created, False, manifest.is_whole, manifest.label, None)
