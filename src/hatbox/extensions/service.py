"""The extensions of a profile: those that are installed, and those that run in this process."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from hatbox.api import alarms, installed
from hatbox.api.caller import Decide
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.granted import ADDED, REMOVED, Changed, granted, keep_granted
from hatbox.api.grants import NONE, ExtensionPermissions, Permissions
from hatbox.api.installed import About, Icon, Installed
from hatbox.clock import Clock
from hatbox.errors import ExtensionError, NoSuchExtension
from hatbox.extensions import running, triggers
from hatbox.extensions.alarms import AlarmScheduler
from hatbox.extensions.extension import Extension
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.manifest import Manifest, read_manifest
from hatbox.extensions.package import Package, open_package
from hatbox.extensions.running import Running
from hatbox.extensions.runtime import DenoProcess, Exit, Limits, LogEntry
from hatbox.extensions.urls import file_name
from hatbox.extensions.user_languages import user_languages
from hatbox.messaging.service import Messages
from hatbox.store.base import MISSED, Change, Store, Transaction

__all__ = ["Extensions"]

logger = logging.getLogger("hatbox.extensions")


class Extensions:
    """The extensions of a profile."""

    def __init__(self, store: Store, dispatcher: Dispatcher, clock: Clock, messages: Messages) -> None:
        self._store = store
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

    def installed(self) -> asyncio.Future[list[Installed]]:
        """Those that are installed in the profile."""
        return self._store.read(lambda transaction: [each for each in installed.get_all(transaction) if each.kept])

    def known(self) -> asyncio.Future[list[tuple[Installed, Running | None]]]:
        """Those that are installed, and those that are only tried out but run, here or in another process."""

        def found(transaction: Transaction) -> list[tuple[Installed, Running | None]]:
            at_work = {each.id: each for each in running.get_all(transaction)}
            every = installed.get_all(transaction)
            return [(each, at_work.get(each.id)) for each in every if each.kept or each.id in at_work]

        return self._store.read(found)

    async def permissions(self, extension_id: str) -> ExtensionPermissions:
        """What an extension holds, was given, and may ask for."""
        manifest, given = await self._given(extension_id)
        return ExtensionPermissions(manifest.required, manifest.optional, given)

    async def grant(self, extension_id: str, permissions: Permissions) -> None:
        """Give an extension what it may ask for, as if it had. Where it runs, it is told."""
        await self._regrant(extension_id, lambda grants: grants.grant(permissions))

    async def revoke(self, extension_id: str, permissions: Permissions) -> None:
        """Take back what an extension was given. Where it runs, it is told."""
        await self._regrant(extension_id, lambda grants: grants.remove(permissions))

    async def _regrant(self, extension_id: str, change: Callable[[ExtensionPermissions], object]) -> None:
        manifest, _ = await self._given(extension_id)

        def changed(transaction: Transaction) -> None:
            given = granted(transaction, extension_id)
            grants = ExtensionPermissions(NONE, NONE, manifest.at_install if given is None else given)
            change(grants)
            keep_granted(transaction, extension_id, grants.granted)

        await self._store.write(changed)

    async def _given(self, extension_id: str) -> tuple[Manifest, Permissions]:
        def noted(transaction: Transaction) -> tuple[Installed | None, Permissions | None]:
            return installed.get(transaction, extension_id), granted(transaction, extension_id)

        known, given = await self._store.read(noted)
        if known is None:
            raise NoSuchExtension(extension_id)
        _, manifest = await self._read(known.path)
        return manifest, manifest.at_install if given is None else given

    async def install(self, path: str | os.PathLike[str]) -> Manifest:
        """Note the extension in a folder or file as installed. It is run with the others from now on."""
        package, manifest = await self._read(path)
        await self._store.write(lambda transaction: _note(transaction, package, manifest, kept=True))
        return manifest

    async def remove(self, extension_id: str) -> Installed:
        """Remove an extension, and all that it has kept."""
        if extension := self._running.get(extension_id):
            await self.stop(extension)
        return await self._store.write(lambda transaction: _remove(transaction, extension_id))

    def set_enabled(self, extension_id: str, enabled: bool) -> asyncio.Future[Installed]:
        """Let an extension run with the others, or not: one that is disabled is stopped, in every process."""
        return self._store.write(lambda transaction: installed.set_enabled(transaction, extension_id, enabled))

    async def start(
        self,
        path: str | os.PathLike[str] | Package,
        *,
        inspect: bool = False,
        limits: Limits | None = None,
        idle_seconds: float = 30.0,
        decide: Decide | None = None,
        on_log: Callable[[LogEntry], None] | None = None,
        on_exit: Callable[[Exit, float | None], None] | None = None,
        on_run: Callable[[], None] = lambda: None,
        child: DenoProcess | None = None,
    ) -> Extension:
        """Run the extension in a folder or file until it is stopped. Resolves when its background has run.

        `decide` is asked whether it is to be given the permissions that it asks for; without it, it never is.
        `on_run` is told when its scripts are about to run, and `child` is a process for them that was started ahead.
        """
        package, manifest = await self._read(path)
        if manifest.id in self._running or manifest.id in self._starting:
            raise ExtensionError(f"{manifest.id} is running already. Stop it first.")
        self._starting.add(manifest.id)
        try:
            before, given = await self._store.write(lambda transaction: _begin(transaction, package, manifest))
        finally:
            self._starting.discard(manifest.id)
        extension = Extension(
            package,
            manifest,
            self._dispatcher,
            self._messages,
            granted=given,
            limits=limits,
            inspect=inspect,
            idle_seconds=idle_seconds,
            decide=decide,
            on_reload=lambda: self._begin(self.reload(manifest.id)),
            prepare=lambda: self._store.write(lambda transaction: running.prepare(transaction, manifest.id)),
            local_storage=LocalStorage(self._store, manifest.id),
            on_log=on_log,
            on_exit=on_exit,
            on_run=on_run,
            child=child,
        )
        if not self._running:
            self._store.follow(self._hear)
        self._running[manifest.id] = self._messages.running[manifest.id] = extension
        self._alarms.watch(manifest.id)
        try:
            await extension.start(*_first_events(before, manifest, temporary=before is None or not before.kept))
        except BaseException:
            await self.stop(extension)
            raise
        return extension

    async def stop(self, extension: Extension) -> None:
        """End an extension that was started here."""
        self._running.pop(extension.id, None)
        self._messages.running.pop(extension.id, None)
        self._alarms.unwatch(extension.id)
        if not self._running:
            self._store.unfollow(self._hear)
        await extension.stop()
        await self._store.write(lambda transaction: running.end(transaction, extension.id))

    def ui(self, extension_id: str | None = None) -> asyncio.Future[list[triggers.Shown]]:
        """What the extensions show that run, here or in another process: menus, buttons, commands, notifications."""
        return self._store.read(lambda transaction: triggers.listed(transaction, extension_id))

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
    ) -> asyncio.Future[triggers.Triggered]:
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
        """Start an extension that runs here anew, from its files as they are now."""
        extension = self._running[extension_id]
        known = await self._store.read(lambda transaction: installed.get(transaction, extension_id))
        try:
            package, manifest = await self._read(known.path if known is not None else extension.package.path)
            if manifest.id != extension_id:
                raise ExtensionError(f"{package.path} is {manifest.id} now. Start that one instead.")
        except ExtensionError as error:
            logger.error("%s goes on as it was: %s", extension_id, error)
            return
        before, given = await self._store.write(lambda transaction: _again(transaction, package, manifest))
        version = extension.manifest.version
        events = []
        if before is None or not before.kept or version != manifest.version:
            events.append(_updated(version, temporary=before is None or not before.kept))
        await extension.restart(package, manifest, given, *events)

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
                self._begin(self._take_over_grants(extension))
                self._begin(self._follow(extension))
        elif change.topic == installed.CHANGED:
            changed_id = msgspec.json.decode(change.payload, type=str)
            if changed_id in self._running:
                self._begin(self._follow(self._running[changed_id]))

    async def _follow(self, extension: Extension) -> None:
        """It was removed or disabled, or another version of it was installed."""
        known = await self._store.read(lambda transaction: installed.get(transaction, extension.id))
        if self._running.get(extension.id) is not extension:
            return
        if known is None or not known.enabled:
            await self.stop(extension)
            extension.tell_end("it was removed" if known is None else "it was disabled")
        elif known.kept and known.version != extension.manifest.version:
            await extension.wake()
            runtime = extension.runtime
            if runtime is not None and runtime.has_listener("runtime.onUpdateAvailable"):
                await runtime.dispatch_event("runtime.onUpdateAvailable", [{"version": known.version}], wait=False)
            else:
                await self.reload(extension.id)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("an extension could not be followed", exc_info=error)

    async def _take_over_grants(self, extension: Extension) -> None:
        now = await self._store.read(lambda transaction: granted(transaction, extension.id)) or NONE
        grants = extension.grants
        taken, given = grants.granted - now, now - grants.granted
        if taken or given:
            grants.remove(taken)
            grants.grant(given)
            extension.permissions_changed()


def _note(
    transaction: Transaction, package: Package, manifest: Manifest, *, kept: bool = False, anew: bool = False
) -> Installed | None:
    """Note what an extension is; returns what it was the last time. One that stays, stays."""
    known = installed.get(transaction, manifest.id)
    shown = manifest.for_scripts()
    about = About(
        uuid=manifest.uuid,
        short_name=manifest.short_name or "",
        description=manifest.description or "",
        homepage_url=manifest.homepage_url,
        options_url=(shown["options_ui"] or {}).get("page") or shown["options_page"] or "",
        icons=tuple(Icon(int(size), url) for size, url in shown["icons"].items()) if shown["icons"] else None,
        required=manifest.required,
    )
    record = Installed(
        manifest.id,
        str(package.path.resolve()),
        manifest.name,
        manifest.version,
        kept or (known is not None and known.kept),
        known is None or known.enabled,
        about,
    )
    return installed.install(transaction, record, anew=anew)


def _begin(transaction: Transaction, package: Package, manifest: Manifest) -> tuple[Installed | None, Permissions]:
    """Note that an extension runs; returns what it was the last time, and what it was given."""
    before = _note(transaction, package, manifest)
    if before is not None and not before.enabled:
        raise ExtensionError(f"{manifest.id} is disabled. Enable it first.")
    given = granted(transaction, manifest.id)
    if given is None:
        given = manifest.at_install
        keep_granted(transaction, manifest.id, given)
    transaction.extensions.clear(manifest.id, "storage.session")
    alarms.forget(transaction, manifest.id)
    _run(transaction, manifest, before)
    return before, given


def _again(transaction: Transaction, package: Package, manifest: Manifest) -> tuple[Installed | None, Permissions]:
    """Note that an extension runs anew. To others, one that is only tried out is installed once more."""
    before = _note(transaction, package, manifest, anew=True)
    alarms.forget(transaction, manifest.id)
    _run(transaction, manifest, before)
    return before, granted(transaction, manifest.id) or manifest.at_install


def _remove(transaction: Transaction, extension_id: str) -> Installed:
    removed = installed.remove(transaction, extension_id)
    running.settle(transaction)
    return removed


def _run(transaction: Transaction, manifest: Manifest, before: Installed | None) -> None:
    same_version = before is not None and before.version == manifest.version
    running.begin(transaction, manifest.id, manifest.name, manifest.for_scripts(), is_same_version=same_version)


def _first_events(before: Installed | None, manifest: Manifest, *, temporary: bool) -> list[tuple[str, list[Any]]]:
    """What an extension is told when it has started: that it is new, or another one, or that a session begins."""
    if before is None:
        return [("runtime.onInstalled", [{"reason": "install", "temporary": temporary}])]
    if before.version != manifest.version:
        return [_updated(before.version, temporary=temporary)]
    return [("runtime.onStartup", [])]


def _updated(before: str, *, temporary: bool) -> tuple[str, list[Any]]:
    return "runtime.onInstalled", [{"reason": "update", "previousVersion": before, "temporary": temporary}]
