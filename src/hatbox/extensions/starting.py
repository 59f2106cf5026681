"""How a run of an extension starts: with which data area, grants and events. Functions of a transaction."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from hatbox.errors import ExtensionError
from hatbox.extension_data import alarms
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records as running
from hatbox.extension_data.data_area import development_area
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extension_data.granted_permissions import load_granted, save_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.installing import about, is_update, new_permissions
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.package.stored_package import StoredPackage
from hatbox.store.base import Transaction

__all__ = ["Events", "Run", "StaleFiles", "begin", "begin_again", "events_of", "updated"]

Events: TypeAlias = list[tuple[str, list[Any]]]


class StaleFiles(ExtensionError):
    """The extension was installed again while its files were read."""


class Run(NamedTuple):
    """A run of an extension."""

    area: str
    before: InstalledExtension | None
    """The record of the extension that last ran with this data."""
    granted: Permissions
    is_installed: bool


def begin(transaction: Transaction, package: Package, manifest: Manifest, title: str) -> Run:
    """Record that an extension runs."""
    run = _noted(transaction, package, manifest, title)
    if run.before is not None and not run.before.enabled:
        raise ExtensionError(f"{manifest.id} is disabled. Enable it first.")
    transaction.extensions.clear(run.area, "storage.session")
    return _started(transaction, manifest, run)


def begin_again(transaction: Transaction, package: Package, manifest: Manifest, title: str, area: str) -> Run:
    """Record that an extension was restarted, with the same data. One from a folder is reported as installed again."""
    if _area(transaction, package, manifest, title) != area:
        raise ExtensionError(
            f"{package.path} no longer contains the running extension. Stop it, then start the new one."
        )
    return _started(transaction, manifest, _noted(transaction, package, manifest, title, anew=True))


def events_of(run: Run, manifest: Manifest) -> Events:
    """What an extension is notified of at its start: that it is new, or another version, or that a session starts."""
    before, temporary = run.before, not run.is_installed
    if before is None or before.ran is None:
        return [("runtime.onInstalled", [{"reason": "install", "temporary": temporary}])]
    if before.renewed or before.ran != manifest.version:
        return [updated(before.ran, temporary=temporary)]
    return [("runtime.onStartup", [])]


def updated(before: str, *, temporary: bool) -> tuple[str, list[Any]]:
    """The event of an extension that replaces an earlier version."""
    return "runtime.onInstalled", [{"reason": "update", "previousVersion": before, "temporary": temporary}]


def _area(transaction: Transaction, package: Package, manifest: Manifest, title: str) -> str:
    """The data area of a run: that of the installed extension only if it is the installed one."""
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


def _noted(transaction: Transaction, package: Package, manifest: Manifest, title: str, *, anew: bool = False) -> Run:
    """Record an extension from a folder. The files in a folder never change an installed extension."""
    area = _area(transaction, package, manifest, title)
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
    given = load_granted(transaction, area)
    if given is None:
        given = manifest.at_install
        save_granted(transaction, area, given)
    return Run(area, before, given.covered_by(manifest.optional | manifest.at_install), is_installed)


def _started(transaction: Transaction, manifest: Manifest, run: Run) -> Run:
    alarms.delete_alarms(transaction, run.area)
    before = run.before
    running.register_run(
        transaction,
        run.area,
        manifest.name,
        manifest.for_scripts(),
        extension_id=manifest.id,
        is_same_version=before is not None and before.ran == manifest.version and not before.renewed,
    )
    return run
