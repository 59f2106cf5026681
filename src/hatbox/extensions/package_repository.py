"""The packages of extensions: read from folders and archives, or from the profile through the package cache."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from hatbox.errors import ExtensionError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions import installing
from hatbox.extensions.installing import Candidate
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_cache import PackageCache
from hatbox.extensions.package.package_files import Package, open_package
from hatbox.extensions.package.stored_package import StoredPackage, digest_of
from hatbox.extensions.package.user_languages import user_languages
from hatbox.store.base import Store, Transaction
from hatbox.store.profile_settings import PROFILE, URL_SECRET

__all__ = ["LoadedPackage", "PackageRepository", "url_secret"]

_SECRET_BYTES: Final = 32


class LoadedPackage(NamedTuple):
    """A package and its manifest."""

    package: Package
    manifest: Manifest

    @property
    def digest(self) -> str | None:
        """The digest of a package that is stored in the profile."""
        return self.package.digest if isinstance(self.package, StoredPackage) else None


class PackageRepository:
    """Reads packages. Everything runs in threads, because a hostile package can take long."""

    def __init__(self, store: Store, cache: PackageCache) -> None:
        self._store = store
        self.cache = cache
        """The cache of installed packages, for a fast start."""
        self.languages = user_languages()
        """The languages of the user, the preferred one first. They apply to extensions that are started later."""

    async def load(self, path: str | os.PathLike[str] | Package) -> LoadedPackage:
        """Read the package in a folder or file."""
        secret = await url_secret(self._store)

        def read() -> LoadedPackage:
            package = path if isinstance(path, Package) else open_package(path)
            return LoadedPackage(package, read_manifest(package, languages=self.languages, url_secret=secret))

        return await asyncio.to_thread(read)

    async def load_current(self, package: Package, area: str) -> LoadedPackage:
        """Read the current version of a running package: the installed one, or the files of its folder."""
        if isinstance(package, StoredPackage):
            return await self.load(await self.load_stored(area))
        return await self.load(package.place if package.area is None else package)

    async def load_stored(self, area: str) -> StoredPackage:
        """The package of the installed extension with a data area. Raises ExtensionNotFound."""
        known = await self._store.read(lambda transaction: installed.get(transaction, area))
        if known is None or not known.permanent:
            raise ExtensionNotFound(area)
        return await self.load_installed(known)

    async def load_installed(self, known: InstalledExtension) -> StoredPackage:
        """The package of an installed extension: from the cache if it is unchanged there, else from the profile."""
        digest = known.digest
        if not digest:
            raise ExtensionError(
                f"{known.name} ({known.id}) has to be installed again: its files were not stored, and could not be "
                f"read from {known.path}. Use `hatbox extensions install PATH`."
            )
        data = await asyncio.to_thread(self.cache.get, digest)
        if data is None:
            data = await self._store.read(lambda transaction: transaction.packages.get(digest))
            if data is None or await asyncio.to_thread(digest_of, data) != digest:
                raise ExtensionError(
                    f"the files of {known.name} ({known.id}) are damaged in the profile. Install it again: "
                    "`hatbox extensions install PATH`. Its data stays."
                )
            await asyncio.to_thread(self.cache.put, digest, data)
        return StoredPackage(Path(known.path), data, digest, known.area)

    async def candidate(self, path: str | os.PathLike[str]) -> Candidate:
        """Read all files of an extension that is to be installed."""
        secret = await url_secret(self._store)
        return await asyncio.to_thread(lambda: installing.candidate_of(open_package(path), self.languages, secret))

    async def title(self, loaded: LoadedPackage) -> str:
        """The name that identifies an extension beside its id. Read only if an extension with the id is installed."""
        package, manifest = loaded
        known = await self._store.read(lambda transaction: installed.get(transaction, manifest.id))
        if known is None or package.area is not None:
            return manifest.name
        return await asyncio.to_thread(installing.title_of, package, manifest)

    async def clean_cache(self, digests: Iterable[str | None]) -> None:
        """Delete packages from the cache that no extension of the profile uses."""
        unused = {digest for digest in digests if digest}
        if unused:
            unused.difference_update(await self._store.read(lambda transaction: transaction.packages.digests()))
        for digest in unused:
            await asyncio.to_thread(self.cache.remove, digest)


async def url_secret(store: Store) -> str:
    """Web pages must not guess the UUIDs in moz-extension:// URLs, which depend on it. Created by its first use."""
    found = await store.read(_load_secret)
    return found if found is not None else await _create_secret(store, secrets.token_hex(_SECRET_BYTES))


def _create_secret(store: Store, new: str) -> asyncio.Future[str]:
    def create(transaction: Transaction) -> str:
        found = _load_secret(transaction)  # another process may have created it meanwhile
        if found is not None:
            return found
        transaction.settings.put(PROFILE, URL_SECRET, msgspec.json.encode(new))
        return new

    return store.write(create)


def _load_secret(transaction: Transaction) -> str | None:
    """The secret; None if it does not exist or is damaged."""
    value = transaction.settings.get(PROFILE, URL_SECRET)
    if value is None:
        return None
    try:
        found = msgspec.json.decode(value, type=str)
    except msgspec.MsgspecError:
        return None
    return found if len(found) >= _SECRET_BYTES else None  # a short one can be guessed
