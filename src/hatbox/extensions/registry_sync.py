"""Applies changes of the profile to running extensions: changed permissions, removed, disabled or updated ones.

The changes may be made by other processes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

import msgspec

from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.extension_permissions import NONE, Permissions
from hatbox.extension_data.granted_permissions import ADDED, REMOVED, PermissionsChanged, load_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package_repository import PackageRepository
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tasks import Tasks

__all__ = ["RegistrySync", "with_area"]

logger = logging.getLogger("hatbox.extensions")

_UPDATE_AVAILABLE = "runtime.onUpdateAvailable"


class _Extensions(Protocol):
    """The extensions that run in this process."""

    packages: PackageRepository

    @property
    def running(self) -> list[Extension]: ...

    async def stop(self, extension: Extension) -> None: ...

    async def reload(self, extension_id: str) -> None: ...


class RegistrySync:
    """Subscribes to the change log between start() and stop()."""

    def __init__(self, store: Store, extensions: _Extensions) -> None:
        self._store = store
        self._extensions = extensions
        self._tasks = Tasks(_log_error)

    def start(self) -> None:
        """Subscribe to changes."""
        self._store.subscribe(self._on_change)

    def stop(self) -> None:
        """Unsubscribe."""
        self._store.unsubscribe(self._on_change)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic in (ADDED, REMOVED):
            changed = msgspec.json.decode(change.payload, type=PermissionsChanged)
            if extension := with_area(self._extensions.running, changed.extension):
                # Synchronously: listeners are called next, and may use the granted permissions.
                alter = extension.grants.grant if change.topic == ADDED else extension.grants.remove
                alter(changed.permissions.covered_by(_declared(extension.manifest)))
                extension.permissions_changed()
        elif change.topic == RESYNC:
            for extension in self._extensions.running:
                self._tasks.spawn(self._reload_grants(extension))
                self._tasks.spawn(self._sync(extension))
        elif change.topic == run_records.STOP_REQUESTED:
            stopped = with_area(self._extensions.running, msgspec.json.decode(change.payload, type=str))
            if stopped is not None:
                self._tasks.spawn(self._stop(stopped))
        elif change.topic == installed.CHANGED:
            changed_one = with_area(self._extensions.running, msgspec.json.decode(change.payload, type=str))
            if changed_one is not None:
                self._tasks.spawn(self._sync(changed_one))

    async def _sync(self, extension: Extension) -> None:
        """Stop an extension that was removed or disabled, and update one that was installed in another version."""
        known = await self._store.read(lambda transaction: installed.get(transaction, extension.area))
        if extension not in self._extensions.running:
            return
        if known is None or not known.enabled:
            await self._extensions.stop(extension)
            extension.notify_exit("it was removed" if known is None else "it was disabled")
            if known is None:
                await self._extensions.packages.clean_cache([extension.loaded.digest])
        elif known.permanent and _is_other_version(known, extension):
            await extension.wake()
            runtime = extension.runtime
            if runtime is not None and runtime.listeners.count(_UPDATE_AVAILABLE):
                await runtime.listeners.dispatch(_UPDATE_AVAILABLE, [{"version": known.version}], wait=False)
            else:
                await self._extensions.reload(extension.id)

    async def _stop(self, extension: Extension) -> None:
        """Stop an extension because the user wants it, in this program or another."""
        if extension in self._extensions.running:
            await self._extensions.stop(extension)
            extension.notify_exit("the user stopped it")

    async def _reload_grants(self, extension: Extension) -> None:
        """Read the granted permissions again: change records were lost."""
        stored = await self._store.read(lambda transaction: load_granted(transaction, extension.area)) or NONE
        granted = stored.covered_by(_declared(extension.manifest))
        grants = extension.grants
        revoked, added = grants.granted - granted, granted - grants.granted
        if revoked or added:
            grants.remove(revoked)
            grants.grant(added)
            extension.permissions_changed()


def with_area(running: Iterable[Extension], area: str) -> Extension | None:
    """The extension with a data area."""
    return next((each for each in running if each.area == area), None)


def _declared(manifest: Manifest) -> Permissions:
    """The permissions that may be granted."""
    return manifest.optional | manifest.at_install


def _is_other_version(known: InstalledExtension, extension: Extension) -> bool:
    """Whether the installed package differs from the running one. A run from a folder is compared by its version."""
    digest = extension.loaded.digest
    return known.version != extension.manifest.version if digest is None else known.digest != digest


def _log_error(error: BaseException) -> None:
    logger.error("handling an extension change failed", exc_info=error)
