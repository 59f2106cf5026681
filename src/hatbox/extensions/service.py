"""The extensions of a profile: those that are installed, and those that run in this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from hatbox.api import alarms
from hatbox.api.caller import Decide
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.granted import ADDED, REMOVED, Changed
from hatbox.api.grants import NONE, Permissions
from hatbox.clock import Clock
from hatbox.errors import ExtensionError
from hatbox.extensions import records
from hatbox.extensions.alarms import AlarmScheduler
from hatbox.extensions.extension import Extension
from hatbox.extensions.manifest import Manifest, read_manifest
from hatbox.extensions.package import Package, open_package
from hatbox.extensions.records import Installed
from hatbox.extensions.runtime import Exit, Limits, LogEntry
from hatbox.store.base import MISSED, Change, Store

__all__ = ["Extensions"]


class Extensions:
    """The extensions of a profile."""

    def __init__(self, store: Store, dispatcher: Dispatcher, clock: Clock) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._alarms = AlarmScheduler(store, clock)
        self._running: dict[str, Extension] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> list[Extension]:
        """Those that were started here and not stopped."""
        return list(self._running.values())

    def installed(self) -> asyncio.Future[list[Installed]]:
        """Those that are installed in the profile."""
        return self._store.read(lambda transaction: [each for each in records.get_all(transaction) if each.kept])

    async def install(self, path: str | os.PathLike[str]) -> Manifest:
        """Note the extension in a folder or file as installed. It is run with the others from now on."""
        package, manifest = self._read(path)
        await self._store.write(lambda transaction: records.install(transaction, _record(package, manifest, kept=True)))
        return manifest

    async def remove(self, extension_id: str) -> Installed:
        """Remove an extension, and all that it has kept."""
        if extension := self._running.get(extension_id):
            await self.stop(extension)
        return await self._store.write(lambda transaction: records.remove(transaction, extension_id))

    async def start(
        self,
        path: str | os.PathLike[str],
        *,
        inspect: bool = False,
        limits: Limits | None = None,
        idle_seconds: float = 30.0,
        decide: Decide | None = None,
        on_log: Callable[[LogEntry], None] | None = None,
        on_exit: Callable[[Exit, float | None], None] | None = None,
    ) -> Extension:
        """Run the extension in a folder or file until it is stopped. Resolves when its background has run.

        `decide` is asked whether it is to be given the permissions that it asks for; without it, it never is.
        """
        package, manifest = self._read(path)
        if manifest.id in self._running:
            raise ExtensionError(f"{manifest.id} is running already. Stop it first.")
        before, granted = await self._store.write(lambda transaction: _begin(transaction, package, manifest))
        extension = Extension(
            package,
            manifest,
            self._dispatcher,
            granted=granted,
            limits=limits,
            inspect=inspect,
            idle_seconds=idle_seconds,
            decide=decide,
            on_log=on_log,
            on_exit=on_exit,
        )
        if not self._running:
            self._store.follow(self._hear)
        self._running[manifest.id] = extension
        self._alarms.watch(manifest.id)
        try:
            await extension.start(*_first_events(before, manifest))
        except BaseException:
            await self.stop(extension)
            raise
        return extension

    async def stop(self, extension: Extension) -> None:
        """End an extension that was started here."""
        self._running.pop(extension.id, None)
        self._alarms.unwatch(extension.id)
        if not self._running:
            self._store.unfollow(self._hear)
        await extension.stop()

    async def close(self) -> None:
        """End all."""
        for extension in self.running:
            await self.stop(extension)

    def _read(self, path: str | os.PathLike[str]) -> tuple[Package, Manifest]:
        package = open_package(path)
        return package, read_manifest(package)

    def _hear(self, change: Change) -> None:
        """What an extension may do has changed, maybe in another process."""
        if change.topic in (ADDED, REMOVED):
            changed = msgspec.json.decode(change.payload, type=Changed)
            if extension := self._running.get(changed.extension):
                # At once: whoever listens is told next, and may use what it has been given.
                alter = extension.grants.grant if change.topic == ADDED else extension.grants.remove
                alter(changed.permissions)
                extension.permissions_changed()
        elif change.topic == MISSED:
            for extension in self.running:
                task = asyncio.ensure_future(self._take_over_grants(extension))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _take_over_grants(self, extension: Extension) -> None:
        granted = await self._store.read(lambda transaction: records.granted(transaction, extension.id)) or NONE
        grants = extension.grants
        taken, given = grants.granted - granted, granted - grants.granted
        if taken or given:
            grants.remove(taken)
            grants.grant(given)
            extension.permissions_changed()


def _record(package: Package, manifest: Manifest, *, kept: bool) -> Installed:
    return Installed(manifest.id, str(package.path.resolve()), manifest.name, manifest.version, kept)


def _begin(transaction: Any, package: Package, manifest: Manifest) -> tuple[Installed | None, Permissions]:
    """Note that an extension runs; returns what it was the last time, and what it was given."""
    known = records.get(transaction, manifest.id)
    before = records.install(transaction, _record(package, manifest, kept=known is not None and known.kept))
    granted = records.granted(transaction, manifest.id)
    if granted is None:
        granted = manifest.at_install
        records.keep_granted(transaction, manifest.id, granted)
    for kind in ("storage.session", alarms.KIND):
        transaction.extensions.clear(manifest.id, kind)
    return before, granted


def _first_events(before: Installed | None, manifest: Manifest) -> list[tuple[str, list[Any]]]:
    startup: tuple[str, list[Any]] = ("runtime.onStartup", [])
    if before is None:
        return [("runtime.onInstalled", [{"reason": "install", "temporary": False}])]
    if before.version != manifest.version:
        details = {"reason": "update", "previousVersion": before.version, "temporary": False}
        return [("runtime.onInstalled", [details]), startup]
    return [startup]
