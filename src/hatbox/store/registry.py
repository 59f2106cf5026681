"""The stores, found by the scheme of a profile's address. A new store is a package beside this module, nothing else.

Each package has `SCHEMES`, the schemes of its addresses, and `store_at(address)`. A plain path has the empty scheme.
The package itself imports no driver: all packages are imported to find one.
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Final

import hatbox.store
from hatbox.errors import ProfileError
from hatbox.store.base import Store

__all__ = ["STORES", "Address", "store_at"]

Address = str | os.PathLike[str]
"""Where a profile is: a path, or a URL whose scheme names the store."""

STORES: Final = tuple(each.name for each in pkgutil.iter_modules(hatbox.store.__path__) if each.ispkg)
"""The names of all stores."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def store_at(address: Address) -> Store:
    """The store for this address, not opened. Raises ProfileError for an unknown scheme."""
    text = os.fspath(address)
    found = None if isinstance(address, os.PathLike) else _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    for package in _packages():
        if scheme in package.SCHEMES:
            store: Store = package.store_at(text)
            return store
    known = ", ".join(f"{each}://" for package in _packages() for each in package.SCHEMES if each)
    remedy = f"Use a path, or one of: {known}" if known else "Use the path of a file"
    # The rest of the URL may contain a password.
    raise ProfileError(f"{scheme}://…", "no store for this scheme", f"{remedy}.")


def _packages() -> Iterator[ModuleType]:
    return (import_module(f"{hatbox.store.__name__}.{name}") for name in STORES)
