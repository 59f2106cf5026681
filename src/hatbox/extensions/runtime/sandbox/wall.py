"""The second sandbox of an extension's process: no_new_privs, Landlock and seccomp, each where the kernel has it.

All three apply to the calling thread and to the processes that it starts. Combines the layers; knows nothing of Deno.
"""

from __future__ import annotations

import errno
import sys
from functools import cache
from typing import Final, NamedTuple

__all__ = ["Layers", "Wall", "available_layers", "enter"]

_SET_NO_NEW_PRIVS: Final = 38
# Not compiled in, switched off at boot, or refused by the filter of a container.
_ABSENT: Final = {errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.EINVAL}


class Wall(NamedTuple):
    """What a process in the sandbox may access. Paths that do not exist are skipped."""

    execute: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    listen: bool = False
    """Whether it may open sockets and listen."""


class Layers(NamedTuple):
    """The layers that apply, or would apply."""

    no_new_privs: bool = False
    landlock: int = 0
    """The version of Landlock; 0 without it."""
    seccomp: bool = False
    missing: tuple[str, ...] = ()
    """Each layer that is not available, and why."""

    @property
    def complete(self) -> bool:
        """Whether all layers are available."""
        return not self.missing

    def __str__(self) -> str:
        names = [
            "no new privileges" if self.no_new_privs else "",
            f"Landlock (version {self.landlock})" if self.landlock else "",
            "seccomp" if self.seccomp else "",
        ]
        available = ", ".join(filter(None, names)) or "none"
        return "; ".join((available, *(f"no {each}" for each in self.missing)))


@cache
def available_layers() -> Layers:
    """The layers that this kernel supports. Changes nothing."""
    if sys.platform != "linux":
        return Layers(missing=(f"sandbox on {sys.platform}: only Deno's own permissions",))
    from hatbox.extensions.runtime.sandbox import landlock, seccomp

    layers = Layers(no_new_privs=True)
    try:
        layers = layers._replace(landlock=landlock.version())
    except OSError as error:
        layers = _without(layers, "Landlock", error)
    try:
        seccomp.check_available()
        return layers._replace(seccomp=True)
    except OSError as error:
        return _without(layers, "seccomp", error)


def enter(wall: Wall, layers: Layers) -> None:
    """Restrict the calling thread permanently. Raises OSError if a layer fails: then start no process from it."""
    from hatbox.extensions.runtime.sandbox import kernel, landlock, seccomp

    if layers.no_new_privs:
        kernel.prctl(_SET_NO_NEW_PRIVS, 1)
    if layers.landlock:
        landlock.restrict_files(read=wall.read, execute=wall.execute, write=wall.write, tcp=wall.listen)
    if layers.seccomp:
        seccomp.filter_calls(listen=wall.listen, signals=layers.landlock >= landlock.SCOPES_SIGNALS)


def _without(layers: Layers, name: str, error: OSError) -> Layers:
    if error.errno not in _ABSENT:
        raise error
    return layers._replace(missing=(*layers.missing, f"{name} ({error.strerror})"))
