"""The sandbox for an extension's process: allows only what Deno needs to start. Starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hatbox.extensions.runtime.sandbox.wall import Wall

__all__ = ["deno_wall"]

_SCRIPTS: Final = Path(__file__).parents[1] / "js"  # of Hatbox
_SYSTEM: Final = (
    "/etc/ld.so.cache",
    "/dev/urandom",
    "/etc/localtime",  # the time zone, for Date
    "/usr/share/zoneinfo",
)


def deno_wall(
    program: str,
    loader: Sequence[str],
    libraries: Sequence[str],
    cache: Path,
    *,
    fill: bool = False,
    listen: bool = False,
) -> Wall:
    """The sandbox for this Deno and its libraries. Its cache is read-only, except for the process that fills it."""
    folders = (str(cache),)
    return Wall(
        execute=(program, *loader),
        read=(*libraries, *_SYSTEM, str(_SCRIPTS), *(() if fill else folders)),
        write=("/dev/null", *(folders if fill else ())),
        listen=listen,
    )
