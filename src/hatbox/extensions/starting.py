"""Registers the start of an extension: its data area, grants and first events. Transaction functions."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import msgspec

from hatbox.errors import ExtensionError
from hatbox.extension_data import alarms, run_records
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.data_area import development_area
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extension_data.granted_permissions import load_granted, save_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.registered_scripts import delete_all
from hatbox.extensions.installing import about, is_update, new_permissions
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package.stored_package import StoredPackage
from hatbox.extensions.package_repository import LoadedPackage
from hatbox.store.base import Transaction

__all__ = ["Events", "ExtensionRun", "StaleFiles", "register_restart", "register_start", "start_events", "updated"]

Events: TypeAlias = list[tuple[str, list[Any]]]


class StaleFiles(ExtensionError):
    """The extension was installed again while its files were read."""


class ExtensionRun(NamedTuple):
    """A run of an extension."""

    area: str
    before: InstalledExtension | None
    """The record of the extension that last ran with this data."""
    granted: Permissions
    is_installed: bool


def register_start(
    transaction: Transaction, loaded: LoadedPackage, title: str, *, opens_browser: bool = False
) -> ExtensionRun:
    """Record that an extension was started. Its process `opens_browser` for its pages, or does not."""
    manifest = loaded.manifest
    run = _prepare(transaction, loaded, title)
    if run.before is not None and not run.before.enabled:
        raise ExtensionError(f"{manifest.id} is disabled. Enable it first.")
    transaction.extensions.clear(run.area, "storage.session")
    return _register(transaction, manifest, run, opens_browser=opens_browser)


def register_restart(transaction: Transaction, loaded: LoadedPackage, title: str, area: str) -> ExtensionRun:
    """Record that an extension was restarted with the same data. A temporary one is reported as installed again."""
    if _area(transaction, loaded, title) != area:
        raise ExtensionError(
            f"{loaded.package.path} no longer contains the running extension. Stop it, then start the new one."
        )
    return _register(transaction, loaded.manifest, _prepare(transaction, loaded, title, anew=True))


def start_events(run: ExtensionRun, manifest: Manifest, *, is_startup: bool = True) -> Events:
    """The events that are dispatched at the start: runtime.onInstalled, or runtime.onStartup if it `is_startup`."""
    before, temporary = run.before, not run.is_installed
    if before is None or before.ran is None:
        return [("runtime.onInstalled", [{"reason": "install", "temporary": temporary}])]
    if before.renewed or before.ran != manifest.version:
        return [updated(before.ran, temporary=temporary)]
    return [("runtime.onStartup", [])] if is_startup else []


def updated(before: str, *, temporary: bool) -> tuple[str, list[Any]]:
    """The event of an extension that replaces an earlier version."""
    return "runtime.onInstalled", [{"reason": "update", "previousVersion": before, "temporary": temporary}]


def _area(transaction: Transaction, loaded: LoadedPackage, title: str) -> str:
    """The data area of a run: that of the installed extension only if it is the installed one."""
    package, manifest = loaded
    if package.area is not None:
        known = installed.get(transaction, package.area)
        if isinstance(package, StoredPackage) and (known is None or known.digest != package.digest):
            raise StaleFiles(f"{manifest.id} was installed again or removed meanwhile. Start it again.")
        return package.area
    known = installed.get(transaction, manifest.id)
    if known is None or known.needs_reinstall or not is_update(known, package.place, title):
        return development_area(manifest.id, package.place)
    if new := new_permissions(known, manifest):
        names = ", ".join([*new.permissions, *new.origins, *new.data_collection])
        raise ExtensionError(
            f"{known.name} requires more than when it was installed: {names}. "
            f"To grant that, install it again: hatbox extensions install {package.path}"
        )
    return known.area


def _prepare(transaction: Transaction, loaded: LoadedPackage, title: str, *, anew: bool = False) -> ExtensionRun:
    """Record a temporary extension. The files in a folder never change an installed extension."""
    package, manifest = loaded
    area = _area(transaction, loaded, title)
    before = installed.get(transaction, area)
    is_installed = before is not None and before.permanent
    if not is_installed:
        record = InstalledExtension(
            id=manifest.id,
            path=str(package.place),
            name=manifest.name,
            version=manifest.version,
            permanent=False,
            enabled=before is None or before.enabled,
            about=about(manifest),
            area=area,
            ran=before.ran if before is not None else None,
        )
        installed.install(transaction, record, reinstall=anew)
    elif before is not None and before.digest == loaded.digest and before.about.uuid != manifest.uuid:
        installed.install(transaction, msgspec.structs.replace(before, about=about(manifest)))
    granted = load_granted(transaction, area)
    if granted is None:
        granted = manifest.at_install
        save_granted(transaction, area, granted)
    return ExtensionRun(area, before, granted.covered_by(manifest.optional | manifest.at_install), is_installed)


def _register(
    transaction: Transaction, manifest: Manifest, run: ExtensionRun, *, opens_browser: bool = False
) -> ExtensionRun:
    alarms.delete_alarms(transaction, run.area)
    before = run.before
    is_same_version = before is not None and before.ran == manifest.version and not before.renewed
    if not is_same_version:
        delete_all(transaction, run.area)  # as in Firefox, another version registers its content scripts again
    run_records.register_run(
        transaction,
        run.area,
        manifest.name,
        manifest.for_scripts(),
        extension_id=manifest.id,
        is_same_version=is_same_version,
        opens_browser=opens_browser,
    )
    return run
