"""The extensions of a profile: those that are installed, and those that run in this process."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from hatbox.api.caller import PermissionPrompt
from hatbox.api.dispatcher import Dispatcher
from hatbox.clock import Clock
from hatbox.errors import ExtensionError, ExtensionNotFound, ProfileError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records as running
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extension_data.granted_permissions import ADDED, REMOVED, PermissionsChanged, load_granted, save_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions import installing, starting
from hatbox.extensions import ui_triggers as triggers
from hatbox.extensions.alarm_scheduler import AlarmScheduler
from hatbox.extensions.extension import Extension
from hatbox.extensions.installing import Candidate, Installation
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.package.extension_urls import file_name
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_cache import PackageCache
from hatbox.extensions.package.package_files import Package, open_package
from hatbox.extensions.package.stored_package import StoredPackage, digest_of
from hatbox.extensions.package.user_languages import user_languages
from hatbox.extensions.runtime import DenoProcess, Exit, LogEntry, RuntimeLimits
from hatbox.messaging.message_router import MessageRouter
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction

__all__ = ["Extensions"]

logger = logging.getLogger("hatbox.extensions")


class Extensions:
    """The extensions of a profile."""

    def __init__(
        self, store: Store, dispatcher: Dispatcher, clock: Clock, messages: MessageRouter, cache: PackageCache
    ) -> None:
        self._store = store
        self.cache = cache
        """The cache of installed packages, for a fast start."""
        self._messages = messages
        self._dispatcher = dispatcher
        self._alarms = AlarmScheduler(store, clock)
        self.languages = user_languages()
        """The languages that the user reads, the preferred one first. Extensions that are started later speak them."""
        self._running: dict[str, Extension] = {}
        self._starting: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> list[Extension]:
        """Those that were started here and not stopped."""
        return list(self._running.values())

    def file_at(self, url: str) -> bytes | None:
        """The file at a moz-extension:// URL, if it is of an extension that runs here; None if there is none."""
        for extension in self._running.values():
            base = extension.manifest.base_url
            if url.startswith(base):
                return extension.package.read(file_name(url.removeprefix(base)))
        return None

    def installed(self) -> asyncio.Future[list[InstalledExtension]]:
        """Those that are installed in the profile."""
        return self._store.read(lambda transaction: [each for each in installed.get_all(transaction) if each.permanent])

    def known(self) -> asyncio.Future[list[tuple[InstalledExtension, RunRecord | None]]]:
        """Those that are installed, and those that are only tried out but run, here or in another process."""

        def found(transaction: Transaction) -> list[tuple[InstalledExtension, RunRecord | None]]:
            at_work = {each.id: each for each in running.get_all(transaction)}
            every = installed.get_all(transaction)
            return [(each, at_work.get(each.area)) for each in every if each.permanent or each.area in at_work]

        return self._store.read(found)

    async def permissions(self, extension_id: str) -> ExtensionPermissions:
        """What an extension holds, was given, and may ask for."""
        _, manifest, given = await self._given(extension_id)
        return ExtensionPermissions(manifest.required, manifest.optional, given)

    async def grant(self, extension_id: str, permissions: Permissions) -> None:
        """Give an extension what it may ask for, as if it had. Where it runs, it is told."""
        await self._regrant(extension_id, lambda grants: grants.grant(permissions))

    async def revoke(self, extension_id: str, permissions: Permissions) -> None:
        """Take back what an extension was given. Where it runs, it is told."""
        await self._regrant(extension_id, lambda grants: grants.remove(permissions))

    async def _regrant(self, extension_id: str, change: Callable[[ExtensionPermissions], object]) -> None:
        area, manifest, _ = await self._given(extension_id)

        def changed(transaction: Transaction) -> None:
            given = load_granted(transaction, area)
            grants = ExtensionPermissions(NONE, NONE, manifest.at_install if given is None else given)
            change(grants)
            save_granted(transaction, area, grants.granted)

        await self._store.write(changed)

    async def _given(self, extension_id: str) -> tuple[str, Manifest, Permissions]:
        def noted(transaction: Transaction) -> tuple[InstalledExtension | None, Permissions | None]:
            area = running.find_area(transaction, extension_id)
            return installed.get(transaction, area), load_granted(transaction, area)

        known, given = await self._store.read(noted)
        if known is None:
            raise ExtensionNotFound(extension_id)
        _, manifest = await self._read(await self._stored(known) if known.permanent else known.path)
        return known.area, manifest, manifest.at_install if given is None else given

    async def package(self, extension_id: str) -> StoredPackage:
        """The package of an installed extension, for start(). The original files on disk are not read.

        It is read from the package cache if it is unchanged there, else from the profile.
        """
        known = await self._store.read(lambda transaction: installed.get(transaction, extension_id))
        if known is None or not known.permanent:
            raise ExtensionNotFound(extension_id)
        return await self._stored(known)

    async def _stored(self, known: InstalledExtension) -> StoredPackage:
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

    async def install(
        self, path: str | os.PathLike[str], *, replace: bool = False, keep_data: bool = False
    ) -> Installation:
        """Store the extension in a folder or file in the profile. Later changes to those files do not affect it.

        Raises AlreadyInstalled if an extension from another path, or with another name, has its id. With `replace`
        that extension is replaced: its grants are deleted, and its data too unless `keep_data` is set.
        """
        (done,) = await self.install_all([path], replace=replace, keep_data=keep_data)
        return done

    async def install_all(
        self, paths: Iterable[str | os.PathLike[str]], *, replace: bool = False, keep_data: bool = False
    ) -> list[Installation]:
        """Install several extensions: all, or none if one of them cannot be installed."""
        candidates = [await asyncio.to_thread(self._candidate, path) for path in paths]

        def install(transaction: Transaction) -> list[Installation]:
            now = time.time()
            return [
                installing.install(transaction, each, now, replace=replace, keep_data=keep_data) for each in candidates
            ]

        if replace:
            await self._stop_replaced(candidates)
        done = await self._store.write(install)
        await self._clean_cache([each.before.digest for each in done if each.before is not None])
        return done

    def _candidate(self, path: str | os.PathLike[str]) -> Candidate:
        return installing.candidate_of(open_package(path), self.languages)

    async def _stop_replaced(self, candidates: Iterable[Candidate]) -> None:
        """Stop running extensions before they are replaced: their last writes must not reach the new ones."""
        for each in candidates:
            extension = self._with_area(each.manifest.id)
            known = await self._store.read(partial(installed.get, area=each.manifest.id))
            if extension and known and not installing.is_update(known, each.place, each.title):
                await self.stop(extension)
                extension.notify_exit("it was replaced")

    async def remove(self, extension_id: str) -> InstalledExtension:
        """Remove an extension, and all that it has stored."""
        area = await self._area_named(extension_id)
        if extension := self._with_area(area):
            await self.stop(extension)
        removed = await self._store.write(partial(_remove, area=area))
        await self._clean_cache([removed.digest])
        return removed

    async def set_enabled(self, extension_id: str, enabled: bool) -> InstalledExtension:
        """Let an extension run with the others, or not: one that is disabled is stopped, in every process."""
        area = await self._area_named(extension_id)
        return await self._store.write(lambda transaction: installed.set_enabled(transaction, area, enabled))

    async def adopt(self) -> None:
        """Upgrade records of earlier formats: store the files of installed extensions that are readable.

        Called when the profile has been opened.
        """
        for known in await self._store.read(installing.outdated):
            candidate = None
            if known.permanent:
                try:
                    candidate = await asyncio.to_thread(self._candidate, known.path)
                except (ExtensionError, OSError) as error:
                    logger.warning("%s (%s) has to be installed again: %s", known.name, known.id, error)
            try:
                now = time.time()
                await self._store.write(partial(installing.adopt, known=known, candidate=candidate, now=now))
            except ProfileError as error:  # full or read-only: it is tried again at the next open
                logger.warning("%s: its files could not be stored: %s", known.id, error)

    async def start(
        self,
        path: str | os.PathLike[str] | Package,
        *,
        inspect: bool = False,
        limits: RuntimeLimits | None = None,
        idle_seconds: float = 30.0,
        decide: PermissionPrompt | None = None,
        on_log: Callable[[LogEntry], None] | None = None,
        on_exit: Callable[[Exit, float | None], None] | None = None,
        on_run: Callable[[], None] = lambda: None,
        child: DenoProcess | None = None,
    ) -> Extension:
        """Run the extension in a folder or file until it is stopped. Resolves when its background has run.

        It has a data area of its own, by its id and its real path, unless it is what package() returns, or the folder
        that was installed: then it has the data of the installed one, and nothing that was not granted to that.
        `decide` is asked whether it is to be given the permissions that it asks for; without it, it never is.
        `on_run` is told when its scripts are about to run, and `child` is a process for them that was started ahead.
        """
        package, manifest = await self._read(path)
        if manifest.id in self._running or manifest.id in self._starting:
            raise ExtensionError(f"{manifest.id} is running already. Stop it first.")
        self._starting.add(manifest.id)
        try:
            run = await self._begin_run(package, manifest)
        finally:
            self._starting.discard(manifest.id)
        area = run.area
        extension = Extension(
            package,
            manifest,
            self._dispatcher,
            self._messages,
            granted=run.granted,
            limits=limits,
            inspect=inspect,
            idle_seconds=idle_seconds,
            decide=decide,
            on_reload=lambda: self._begin(self.reload(manifest.id)),
            prepare=lambda: self._store.write(lambda transaction: running.reset_ui(transaction, area)),
            local_storage=LocalStorage(self._store, area),
            area=area,
            on_log=on_log,
            on_exit=on_exit,
            on_run=on_run,
            child=child,
        )
        if not self._running:
            self._store.subscribe(self._on_change)
        self._running[manifest.id] = self._messages.running[manifest.id] = extension
        self._alarms.watch(area)
        try:
            await extension.start(*starting.events_of(run, manifest))
            await self._note_run(extension)
        except BaseException:
            await self.stop(extension)
            raise
        return extension

    async def _begin_run(self, package: Package, manifest: Manifest) -> starting.Run:
        title = await self._title(package, manifest)
        return await self._store.write(lambda transaction: starting.begin(transaction, package, manifest, title))

    async def _title(self, package: Package, manifest: Manifest) -> str:
        """The name to compare a package with the installed one of its id. Read only if there is one."""
        known = await self._store.read(lambda transaction: installed.get(transaction, manifest.id))
        if known is None or package.area is not None:
            return manifest.name
        return await asyncio.to_thread(installing.title_of, package, manifest)

    async def _note_run(self, extension: Extension) -> None:
        version = extension.manifest.version
        await self._store.write(lambda transaction: installed.record_run(transaction, extension.area, version))

    async def stop(self, extension: Extension) -> None:
        """End an extension that was started here."""
        self._running.pop(extension.id, None)
        self._messages.running.pop(extension.id, None)
        self._alarms.unwatch(extension.area)
        if not self._running:
            self._store.unsubscribe(self._on_change)
        await extension.stop()
        await self._store.write(lambda transaction: running.unregister_run(transaction, extension.area))

    def ui(self, extension_id: str | None = None) -> asyncio.Future[list[triggers.ExtensionUi]]:
        """What the extensions show that run, here or in another process: menus, buttons, commands, notifications."""
        return self._store.read(lambda transaction: triggers.list_ui(transaction, extension_id))

    def trigger(
        self,
        extension_id: str,
        what: str,
        *,
        tab_id: int | None = None,
        link_url: str | None = None,
        link_text: str | None = None,
        image_url: str | None = None,
        selection_text: str | None = None,
        close: bool = False,
    ) -> asyncio.Future[triggers.TriggerResult]:
        """Do in the place of a user: `menu:ID`, `action`, `page-action`, `command:NAME` or `notification:ID`.

        It happens in a tab, the active one if none is named. A menu can be opened on a link, an image or selected text.
        With `close`, a notification is closed and not clicked. When this resolves, the listeners were told.
        """
        return self._store.write(
            lambda transaction: triggers.trigger(
                transaction,
                extension_id,
                what,
                tab_id=tab_id,
                link_url=link_url,
                link_text=link_text,
                image_url=image_url,
                selection_text=selection_text,
                close=close,
            )
        )

    async def reload(self, extension_id: str) -> None:
        """Restart an extension of this process: from the installed package, or from the current files of its folder."""
        extension = self._running[extension_id]
        old = extension.package
        try:
            package, manifest = await self._read(await self._register_restart(extension))
            if manifest.id != extension_id:
                raise ExtensionError(f"{package.path} is {manifest.id} now. Start that one instead.")
            title = await self._title(package, manifest)
            run = await self._store.write(
                lambda transaction: starting.begin_again(transaction, package, manifest, title, extension.area)
            )
        except ExtensionError as error:
            logger.error("%s goes on as it was: %s", extension_id, error)
            return
        version = extension.manifest.version
        events: starting.Events = []
        if not run.is_installed or version != manifest.version or _digest(old) != _digest(package):
            events.append(starting.updated(version, temporary=not run.is_installed))
        await extension.restart(package, manifest, run.granted, *events)
        await self._note_run(extension)

    async def _register_restart(self, extension: Extension) -> Package | Path:
        package = extension.package
        if isinstance(package, StoredPackage):
            return await self.package(extension.area)
        return package.place if package.area is None else package

    async def close(self) -> None:
        """End all."""
        for extension in self.running:
            await self.stop(extension)

    async def _read(self, path: str | os.PathLike[str] | Package) -> tuple[Package, Manifest]:
        """In a thread: whoever made the package decides how long that takes."""

        def read() -> tuple[Package, Manifest]:
            package = path if isinstance(path, Package) else open_package(path)
            return package, read_manifest(package, languages=self.languages)

        return await asyncio.to_thread(read)

    def _on_change(self, change: ChangeRecord) -> None:
        """What an extension may do has changed, maybe in another process."""
        if change.topic in (ADDED, REMOVED):
            changed = msgspec.json.decode(change.payload, type=PermissionsChanged)
            if extension := self._with_area(changed.extension):
                # At once: whoever listens is told next, and may use what it has been given.
                alter = extension.grants.grant if change.topic == ADDED else extension.grants.remove
                alter(changed.permissions.covered_by(_declared(extension.manifest)))
                extension.permissions_changed()
        elif change.topic == RESYNC:
            for extension in self.running:
                self._begin(self._reload_grants(extension))
                self._begin(self._sync_with_registry(extension))
        elif change.topic == installed.CHANGED:
            changed_one = self._with_area(msgspec.json.decode(change.payload, type=str))
            if changed_one is not None:
                self._begin(self._sync_with_registry(changed_one))

    async def _sync_with_registry(self, extension: Extension) -> None:
        """It was removed or disabled, or another version of it was installed."""
        known = await self._store.read(lambda transaction: installed.get(transaction, extension.area))
        if self._running.get(extension.id) is not extension:
            return
        if known is None or not known.enabled:
            await self.stop(extension)
            extension.notify_exit("it was removed" if known is None else "it was disabled")
            if known is None:
                await self._clean_cache([_digest(extension.package)])
        elif known.permanent and _is_another(known, extension):
            await extension.wake()
            runtime = extension.runtime
            if runtime is not None and runtime.has_listener("runtime.onUpdateAvailable"):
                await runtime.dispatch_event("runtime.onUpdateAvailable", [{"version": known.version}], wait=False)
            else:
                await self.reload(extension.id)

    def _with_area(self, area: str) -> Extension | None:
        """The extension that runs here with this data area."""
        return next((each for each in self._running.values() if each.area == area), None)

    async def _area_named(self, name: str) -> str:
        return await self._store.read(lambda transaction: running.find_area(transaction, name))

    async def _clean_cache(self, digests: Iterable[str | None]) -> None:
        """Delete packages from the cache that no extension of the profile uses."""
        gone = {digest for digest in digests if digest}
        if gone:
            gone.difference_update(await self._store.read(lambda transaction: transaction.packages.digests()))
        for digest in gone:
            await asyncio.to_thread(self.cache.remove, digest)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("an extension could not be followed", exc_info=error)

    async def _reload_grants(self, extension: Extension) -> None:
        given = await self._store.read(lambda transaction: load_granted(transaction, extension.area)) or NONE
        now = given.covered_by(_declared(extension.manifest))
        grants = extension.grants
        taken, added = grants.granted - now, now - grants.granted
        if taken or added:
            grants.remove(taken)
            grants.grant(added)
            extension.permissions_changed()


def _remove(transaction: Transaction, area: str) -> InstalledExtension:
    if running.get(transaction, area) is None:
        running.unregister_run(transaction, area)  # its process was killed
    removed = installed.remove(transaction, area)
    running.clean_up(transaction)
    return removed


def _digest(package: Package) -> str | None:
    return package.digest if isinstance(package, StoredPackage) else None


def _declared(manifest: Manifest) -> Permissions:
    """What an extension may be granted."""
    return manifest.optional | manifest.at_install


def _is_another(known: InstalledExtension, extension: Extension) -> bool:
    """Whether the installed package differs from the running one. A run from a folder is compared by its version."""
    digest = _digest(extension.package)
    return known.version != extension.manifest.version if digest is None else known.digest != digest
