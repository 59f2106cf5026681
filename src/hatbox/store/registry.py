"""The stores, found by the scheme of a profile's address. A new store is a package beside this module, nothing else.

Each package has `SCHEMES`, the schemes of its addresses, and `store_at(address)`. A plain path has the empty scheme.
These functions need no open profile: `create_at(address)`, `info_at(address)`; for copies `dump_at(address)` and
`fill_at(address, source, plain=, progress=)`; and, not in every store, `check_at(address)`,
`repair_at(address, into)` and `change_key_at(address, old, new)`. The package imports no driver: all packages are
imported to find one.
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import platformdirs

import hatbox.store
from hatbox.errors import ProfileError
from hatbox.store.base import Store
from hatbox.store.check_results import Repair, Report
from hatbox.store.keys import Key
from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
from hatbox.store.profile_info import ProfileInfo

__all__ = [
    "STORES",
    "Address",
    "change_key_at",
    "check_at",
    "copy_at",
    "create_at",
    "default_address",
    "default_path",
    "dump_at",
    "fill_at",
    "info_at",
    "repair_at",
    "store_at",
]

Address = str | os.PathLike[str]
"""Where a profile is: a path, or a URL whose scheme names the store."""

STORES: Final = tuple(
    each.name for each in pkgutil.iter_modules(hatbox.store.__path__) if each.ispkg and each.name != "tables"
)
"""The names of all stores."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def default_address() -> str:
    """The address of the default profile: $HATBOX_PROFILE, or profile.db in the user data directory."""
    return os.environ.get("HATBOX_PROFILE") or default_path()


def default_path() -> str:
    """The path of the default profile where the environment names none: profile.db in the user data directory."""
    return str(Path(platformdirs.user_data_dir("hatbox", appauthor=False)) / "profile.db")


def store_at(address: Address) -> Store:
    """The store for this address, not opened. Raises ProfileError for an unknown scheme."""
    store: Store = _package_of(address).store_at(os.fspath(address))
    return store


def create_at(address: Address) -> bool:
    """Create a profile with the rows of a new one. False if one exists already: it is not changed.

    Raises ProfileError.
    """
    return bool(_function_of(address, "create")(os.fspath(address)))


def info_at(address: Address) -> ProfileInfo:
    """Describe a profile, without changing it. Raises ProfileError, also if no profile exists there."""
    info: ProfileInfo = _function_of(address, "info")(os.fspath(address))
    return info


def copy_at(source: Address, target: Address, *, plain: bool, progress: CopyProgress) -> CopyResult:
    """Copy a profile into one that is new or unchanged since it was created, in any store. All or nothing.

    Raises ProfileError. With `plain`, what is encrypted in the source may be plain text in the target.
    """
    _function_of(source, "dump")
    found = info_at(source)  # raises before anything is created for the target
    return fill_at(target, CopySource(found.uuid, lambda: dump_at(source)), plain=plain, progress=progress)


def dump_at(address: Address, key: Key | None = None) -> AbstractContextManager[ProfileDump]:
    """The rows of a profile, as of one commit. `key`: default is the key that is set. Raises ProfileError."""
    dumped: AbstractContextManager[ProfileDump] = _function_of(address, "dump")(os.fspath(address), key)
    return dumped


def fill_at(
    address: Address, source: CopySource, *, plain: bool, progress: CopyProgress, key: Key | None = None
) -> CopyResult:
    """Write the rows of `source` into a profile that is new or unchanged since it was created. All or nothing.

    Raises NotNew, and other ProfileErrors.
    """
    function = _function_of(address, "fill")
    filled: CopyResult = function(os.fspath(address), source, plain=plain, progress=progress, key=key)
    return filled


def check_at(address: Address) -> Report:
    """Check the profile for damage. Raises ProfileError, also for a store without a check."""
    report: Report = _function_of(address, "check")(os.fspath(address))
    return report


def repair_at(address: Address, into: Address) -> Repair:
    """Save every undamaged row into a new profile of the same store. Raises ProfileError, also if not supported."""
    function = _function_of(address, "repair")
    if _package_of(into) is not _package_of(address):
        problem = "it is in another kind of store than the damaged profile"
        raise ProfileError(store_at(into).label, problem, "Nothing was written. Choose another address.")
    repaired: Repair = function(os.fspath(address), os.fspath(into))
    return repaired


def change_key_at(address: Address, old: Key | None, new: Key | None) -> int | None:
    """Encrypt a profile, change its key, or decrypt it; None is no encryption. Returns the number of rewritten values.

    Returns None if the profile has the new key already. Raises ProfileError, and then changes nothing.
    """
    count: int | None = _function_of(address, "change_key")(os.fspath(address), old, new)
    return count


def _function_of(address: Address, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(_package_of(address), f"{name}_at", None)
    if function is None:
        label = store_at(address).label
        raise ProfileError(
            label, f"{name.replace('_', ' ')} is not supported by this store", "Use the tools of its database."
        )
    return function


def _package_of(address: Address) -> ModuleType:
    found = None if isinstance(address, os.PathLike) else _SCHEME.match(address)
    scheme = found[1].lower() if found else ""
    for package in _packages():
        if scheme in package.SCHEMES:
            return package
    known = ", ".join(f"{each}://" for package in _packages() for each in package.SCHEMES if each)
    remedy = f"Use a path, or one of: {known}" if known else "Use the path of a file"
    # The rest of the URL may contain a password.
    raise ProfileError(f"{scheme}://…", "no store for this scheme", f"{remedy}.")


def _packages() -> Iterator[ModuleType]:
    return (import_module(f"{hatbox.store.__name__}.{name}") for name in STORES)
