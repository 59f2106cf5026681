"""The file of a download: inside the downloads folder, whatever an extension or a server says."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from hatbox.errors import ApiError

__all__ = ["check_file_name", "free_path", "name_from_url"]

_ILLEGAL: Final = re.compile(r'[\x00-\x1f\x7f"*:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069]')
_MAX_NAME: Final = 200
_MAX_NUMBER: Final = 10_000


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


def free_path(folder: Path, name: PurePosixPath, *, overwrite: bool) -> Path:
    """Create the folders of a file, and return its path: numbered if the name is taken, unless `overwrite`.

    Raises OSError. A link that leads out of the folder is refused.
    """
    wanted = folder / name
    wanted.parent.mkdir(parents=True, exist_ok=True)
    if not wanted.parent.resolve().is_relative_to(folder.resolve()):
        raise PermissionError(f"{wanted.parent} is not inside {folder}")
    if overwrite and not wanted.is_dir() and not wanted.is_symlink():
        return wanted
    path = wanted
    for number in range(1, _MAX_NUMBER):
        if not path.exists() and not path.is_symlink() and not path.with_name(f"{path.name}.part").exists():
            return path
        path = wanted.with_name(f"{wanted.stem}({number}){wanted.suffix}")
    raise FileExistsError(f"{wanted}: too many files have this name")


def _sanitized(name: str) -> str:
    """A name without characters that Firefox replaces, and without leading and trailing dots and spaces."""
    return _ILLEGAL.sub("_", name).strip(" .\t")[:_MAX_NAME].strip(" .")
