"""Reads and changes the granted permissions of an extension in the profile, whether it runs or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hatbox.errors import ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extension_data.granted_permissions import load_granted, save_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.package_repository import PackageRepository
from hatbox.store.base import Store, Transaction

__all__ = ["StoredGrants", "change_grants", "read_grants"]


class StoredGrants(NamedTuple):
    """The permissions of an extension, as stored."""

    area: str
    permissions: ExtensionPermissions
    at_install: Permissions
    """The permissions that are granted until the first change is stored."""


async def read_grants(store: Store, packages: PackageRepository, extension_id: str) -> StoredGrants:
    """The permissions of an installed or temporary extension. Raises ExtensionNotFound."""

    def read(transaction: Transaction) -> tuple[InstalledExtension | None, Permissions | None]:
        area = run_records.find_area(transaction, extension_id)
        return installed.get(transaction, area), load_granted(transaction, area)

    known, granted = await store.read(read)
    if known is None:
        raise ExtensionNotFound(extension_id)
    _, manifest = await packages.load(await packages.load_installed(known) if known.permanent else known.path)
    at_install = manifest.at_install
    permissions = ExtensionPermissions(manifest.required, manifest.optional, at_install if granted is None else granted)
    return StoredGrants(known.area, permissions, at_install)


async def change_grants(
    store: Store, packages: PackageRepository, extension_id: str, change: Callable[[ExtensionPermissions], object]
) -> None:
    """Change the granted permissions, and store them."""
    area, _, at_install = await read_grants(store, packages, extension_id)

    def save(transaction: Transaction) -> None:
        granted = load_granted(transaction, area)
        grants = ExtensionPermissions(NONE, NONE, at_install if granted is None else granted)
        change(grants)
        save_granted(transaction, area, grants.granted)

    await store.write(save)
