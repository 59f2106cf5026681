"""A store with URLs as addresses, for tests of what passes an address on. Its profiles are SQLite files.

It records the addresses that it gets, and each of them has a password.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hatbox.store import registry, sqlite
from hatbox.store.keys import Key
from hatbox.store.profile_copy import CopyResult, CopySource
from hatbox.store.profile_info import ProfileInfo
from hatbox.store.sqlite import SqliteStore

__all__ = ["ADDRESS", "LABEL", "PASSWORD", "UrlStores", "registered"]

PASSWORD = "s3cret%2Fword"
ADDRESS = f"urlstore://user:{PASSWORD}@host//folder/../profile?schema=a%20b&sslpassword={PASSWORD}"
LABEL = "urlstore://host/profile"


class UrlStores:
    """The package of the store, and the addresses that it was given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[str] = []
        self.package = ModuleType("hatbox.store.urlstore")
        functions = (self.store_at, self.create_at, self.info_at, self.dump_at, self.fill_at)
        members: dict[str, Any] = {"SCHEMES": ("urlstore",), **{each.__name__: each for each in functions}}
        self.package.__dict__.update(members)

    def store_at(self, address: str) -> SqliteStore:
        self.seen.append(address)
        return _UrlStore(self.path, address)

    def create_at(self, address: str) -> bool:
        self.seen.append(address)
        return sqlite.create_at(str(self.path))

    def info_at(self, address: str) -> ProfileInfo:
        self.seen.append(address)
        return sqlite.info_at(str(self.path))._replace(label=LABEL, place=LABEL)

    def dump_at(self, address: str, key: Key | None = None) -> Any:
        self.seen.append(address)
        return sqlite.dump_at(str(self.path), key)

    def fill_at(self, address: str, source: CopySource, **options: Any) -> CopyResult:
        self.seen.append(address)
        return sqlite.fill_at(str(self.path), source, **options)._replace(target=LABEL)


class _UrlStore(SqliteStore):
    def __init__(self, path: Path, address: str) -> None:
        super().__init__(path)
        self._address = address

    @property
    def address(self) -> str:
        return self._address

    @property
    def label(self) -> str:
        return LABEL


@contextmanager
def registered(path: Path) -> Iterator[UrlStores]:
    """Register the scheme urlstore:// in this process, for profiles in the file `path`."""
    stores = UrlStores(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, stores.package.__name__, stores.package)
        patch.setattr(registry, "STORES", (*registry.STORES, "urlstore"))
        yield stores
