"""Our own files as Deno has compiled them, which halves the time that it takes to start.

Each cache is filled once (hatbox.extensions.runtime.cache_filling), by processes that run no code of an extension, and
is read-only for those that do: what one of them could write there, all others would execute. Here: where it is.
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

_HERE: Final = Path(__file__).parent
LIBRARIES: Final = "libraries.json"
"""The file in a cache that is written last."""


class CodeCache(NamedTuple):
    """A cache that is filled, and the libraries with which Deno has filled it."""

    folder: Path
    loader: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def wall(self, *, fill: bool = False, listen: bool = False) -> Wall:
        """The wall for a process that starts from it."""
        return deno_wall(deno_program(), self.loader, self.libraries, self.folder, fill=fill, listen=listen)


def find_cache(*, unsafe_eval: bool) -> CodeCache | None:
    """The cache for this Deno, these files and these flags; None if it is still to be filled."""
    return read_cache(cache_for(unsafe_eval=unsafe_eval))


def cache_for(*, unsafe_eval: bool) -> Path:
    """Where that one is. V8 takes compiled code only with the flags of then, but for the size of the heap."""
    program = Path(deno_program()).stat()
    parts: list[tuple[object, ...]] = [(program.st_ino, program.st_size, program.st_mtime_ns)]
    for entry in sorted(os.scandir(_HERE), key=lambda each: each.name):
        if entry.name.endswith((".js", ".mjs", ".json")):
            status = entry.stat()
            parts.append((entry.name, status.st_size, status.st_mtime_ns))
    name = f"{zlib.crc32(repr((str(_HERE), parts)).encode()):08x}{'-eval' if unsafe_eval else ''}"
    return cache_folder() / name


def read_cache(folder: Path) -> CodeCache | None:
    """The cache in a folder; None if it is not one, or if the libraries are not there any more."""
    try:
        loader, libraries = json.loads((folder / LIBRARIES).read_text("utf-8"))
        cache = CodeCache(folder, tuple(map(str, loader)), tuple(map(str, libraries)))
    except (OSError, ValueError, TypeError):
        return None
    return cache if all(map(os.path.exists, (*cache.loader, *cache.libraries))) else None
