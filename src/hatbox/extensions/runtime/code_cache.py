"""The cache of compiled code of Hatbox's own scripts, which halves the start time of Deno. Finds the cache.

Each cache is filled once (hatbox.extensions.runtime.cache_filling), by processes that run no extension code. It is
read-only for processes that do: code that one of them could write there would be executed by all others.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.extensions.runtime.command import cache_folder, deno_program
from hatbox.extensions.runtime.sandbox.deno_wall import deno_wall
from hatbox.extensions.runtime.sandbox.wall import Wall

__all__ = ["LIBRARIES", "CodeCache", "cache_for", "find_cache", "read_cache"]

_SCRIPTS: Final = Path(__file__).parent / "js"
LIBRARIES: Final = "libraries.json"
"""The file in a cache that is written last."""


class CodeCache(NamedTuple):
    """A filled cache, and the shared libraries of the Deno that has filled it."""

    folder: Path
    loader: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def wall(self, *, fill: bool = False, listen: bool = False) -> Wall:
        """The sandbox for a process that starts from it."""
        return deno_wall(deno_program(), self.loader, self.libraries, self.folder, fill=fill, listen=listen)


def find_cache(*, unsafe_eval: bool) -> CodeCache | None:
    """The cache for this Deno, these scripts and these flags; None if it is not filled yet."""
    return read_cache(cache_for(unsafe_eval=unsafe_eval))


def cache_for(*, unsafe_eval: bool) -> Path:
    """The path of that cache. V8 rejects code compiled with other flags, except for the heap size."""
    program = Path(deno_program()).stat()
    parts: list[tuple[object, ...]] = [(program.st_ino, program.st_size, program.st_mtime_ns)]
    for entry in sorted(os.scandir(_SCRIPTS), key=lambda each: each.name):
        if entry.name.endswith((".js", ".mjs", ".json")):
            status = entry.stat()
            parts.append((entry.name, status.st_size, status.st_mtime_ns))
    name = f"{zlib.crc32(repr((str(_SCRIPTS), parts)).encode()):08x}{'-eval' if unsafe_eval else ''}"
    return cache_folder() / name


def read_cache(folder: Path) -> CodeCache | None:
    """The cache in a folder; None if it is not complete, or if the libraries do not exist any more."""
    try:
        loader, libraries = json.loads((folder / LIBRARIES).read_text("utf-8"))
        cache = CodeCache(folder, tuple(map(str, loader)), tuple(map(str, libraries)))
    except (OSError, ValueError, TypeError):
        return None
    return cache if all(map(os.path.exists, (*cache.loader, *cache.libraries))) else None
