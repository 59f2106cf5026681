"""The static files of the page, in memory. Only files that exist in the folder are served, by their exact path."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["FOLDER", "StaticFile", "StaticFiles"]

FOLDER: Final = Path(__file__).parent / "static"
"""The folder of the files."""

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


class StaticFile(NamedTuple):
    """A file and its headers."""

    content: bytes
    content_type: str
    etag: str


class StaticFiles:
    """The files of a folder, each read when it is first requested, and again when it was changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.suffix in _TYPES}
        self._read: dict[str, tuple[int, StaticFile]] = {}

    def get(self, name: str) -> StaticFile | None:
        """A file by its path with slashes; None if it does not exist. The empty path is that of index.html."""
        path = self._paths.get(name or "index.html")
        if path is None:
            return None
        changed = path.stat().st_mtime_ns
        found = self._read.get(name)
        if found is None or found[0] != changed:
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            found = self._read[name] = changed, StaticFile(content, _TYPES[path.suffix], etag)
        return found[1]
