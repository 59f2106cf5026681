"""The file of a download: inside the downloads folder, whatever an extension or a server says."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from hatbox.errors import ApiError

__all__ = ["ReservedFile", "check_file_name", "name_from_url", "open_part", "publish", "reserve_file"]

_ILLEGAL: Final = re.compile(r'[\x00-\x1f\x7f"*:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069]')
_MAX_NAME: Final = 200
_MAX_NUMBER: Final = 10_000
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)  # of file systems without hard links, such as FAT


class ReservedFile(NamedTuple):
    """Where a download is saved."""

    path: Path
    part: Path
    """An empty file, which this download has created. It is written here, and published at its end."""
    replaces: bool = False
    """Whether it replaces an existing file of this path."""


def check_file_name(name: str) -> PurePosixPath:
    """The relative path that an extension names. Raises ApiError with Firefox's messages."""
    if not name:
        raise ApiError("filename must not be empty")
    if name.startswith("/"):
        raise ApiError("filename must not be an absolute path")
    parts = name.replace("%", "_").split("/")
    if ".." in parts:
        raise ApiError("filename must not contain back-references (..)")
    if any(_sanitized(part) != part for part in parts if part) or not parts[-1]:
        raise ApiError("filename must not contain illegal characters")
    return PurePosixPath(*(part for part in parts if part))


def name_from_url(url: str) -> PurePosixPath:
    """The file name of a URL, or `download`."""
    last = unquote(urlsplit(url).path.rpartition("/")[2])
    return PurePosixPath(_sanitized(last.replace("/", "_")) or "download")


def reserve_file(folder: Path, name: PurePosixPath, *, overwrite: bool) -> ReservedFile:
    """Create the folders and the partial file of a download: numbered if the name is taken, unless `overwrite`.

    Raises OSError. A link that leads out of the folder is refused.
    """
    wanted = folder / name
    wanted.parent.mkdir(parents=True, exist_ok=True)
    if not wanted.parent.resolve().is_relative_to(folder.resolve()):
        raise PermissionError(f"{wanted.parent} is not inside {folder}")
    is_replaced = overwrite and not wanted.is_dir() and not wanted.is_symlink()
    for path in _numbered(wanted):
        if is_replaced or not os.path.lexists(path):
            part = path.with_name(f"{path.name}.part")
            with contextlib.suppress(FileExistsError):
                os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
                return ReservedFile(wanted if is_replaced else path, part, is_replaced)
    raise FileExistsError(f"{wanted}: too many files have this name")


def open_part(part: Path, offset: int) -> BinaryIO:
    """Open a partial file to write from `offset` on. What follows is cut off. Raises OSError."""
    file = os.fdopen(os.open(part, os.O_RDWR | os.O_NOFOLLOW), "r+b")
    try:
        if file.seek(0, os.SEEK_END) < offset:
            raise OSError(f"{part} is shorter than what was downloaded")
        file.seek(offset)
        file.truncate()
    except BaseException:
        file.close()
        raise
    return file


def publish(file: ReservedFile) -> Path:
    """Give a complete file its name, and return its path. Raises OSError.

    Without `replaces`, a file that was created meanwhile stays, and this one is numbered.
    """
    if file.replaces:
        return file.part.replace(file.path)
    for path in _numbered(file.path):
        try:
            os.link(file.part, path, follow_symlinks=False)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if os.path.lexists(path):
                continue
            return file.part.replace(path)
        file.part.unlink()
        return path
    raise FileExistsError(f"{file.path}: too many files have this name")


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    for number in range(1, _MAX_NUMBER):
        yield path.with_name(f"{path.stem}({number}){path.suffix}")


def _sanitized(name: str) -> str:
    """A name without characters that Firefox replaces, and without leading and trailing dots and spaces."""
    return _ILLEGAL.sub("_", name).strip(" .\t")[:_MAX_NAME].strip(" .")
