"""The store in one SQLite file. Its address is a path.

The package imports its modules when they are needed: shell completion reads names without the rest of the store.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatbox.store.check_results import Repair, Report
    from hatbox.store.keys import Key
    from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
    from hatbox.store.profile_info import ProfileInfo
    from hatbox.store.sqlite.store import SqliteStore

__all__ = [
    "SCHEMES",
    "SqliteStore",
    "change_key_at",
    "check_at",
    "create_at",
    "dump_at",
    "fill_at",
    "info_at",
    "repair_at",
    "store_at",
]

SCHEMES = ("",)


def store_at(address: str) -> SqliteStore:
    """The store for the file with this path, which may be relative or start with ~."""
    from hatbox.store.sqlite.store import SqliteStore

    return SqliteStore(_path_at(address))


def check_at(address: str) -> Report:
    """Check the file with this path."""
    from hatbox.store.sqlite.check import check  # only when needed: not each time a program starts

    return check(_path_at(address))


def repair_at(address: str, into: str) -> Repair:
    """Save the undamaged rows of the file with this path into a new file."""
    from hatbox.store.sqlite.repair import repair

    return repair(_path_at(address), _path_at(into))


def create_at(address: str) -> bool:
    """Create a profile in a new file with this path. False if it is a profile already, which is not changed."""
    from hatbox.store.sqlite.info import create

    return create(_path_at(address))


def info_at(address: str) -> ProfileInfo:
    """Describe the profile in the file with this path."""
    from hatbox.store.sqlite.info import info

    return info(_path_at(address))


def dump_at(address: str, key: Key | None = None) -> AbstractContextManager[ProfileDump]:
    """The rows of the profile in the file with this path, for a copy."""
    from hatbox.store.sqlite.copying import opened_dump

    return opened_dump(_path_at(address), key)


def fill_at(
    address: str, source: CopySource, *, plain: bool, progress: CopyProgress, key: Key | None = None
) -> CopyResult:
    """Write the rows of another profile into a new or unchanged profile in the file with this path."""
    from hatbox.store.sqlite.copying import fill_file

    return fill_file(_path_at(address), source, plain=plain, progress=progress, key=key)


def change_key_at(address: str, old: Key | None, new: Key | None) -> int | None:
    """Encrypt the file with this path, change its key, or decrypt it; see rekeying.change_key."""
    from hatbox.store.sqlite.rekeying import change_key

    return change_key(_path_at(address), old, new)


def _path_at(address: str) -> Path:
    path = Path(address)
    try:
        return path.expanduser().absolute()
    except (OSError, RuntimeError) as error:  # no such user, or the current folder was deleted
        from hatbox.errors import ProfileError

        raise ProfileError(path, f"cannot resolve the path ({error})", "Choose another path.") from error


def __getattr__(name: str) -> Any:
    if name != "SqliteStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hatbox.store.sqlite.store import SqliteStore

    return SqliteStore
