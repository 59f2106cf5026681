"""The extensions of a profile: those that are installed, and those that run in this process."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from hatbox.api.caller import PermissionPrompt, TestReporter
from hatbox.api.dispatcher import Dispatcher
from hatbox.clock import Clock
from hatbox.errors import ExtensionError, ExtensionNotFound, ProfileError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extension_data.granted_permissions import load_granted, save_granted
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.protocol_handlers import handled_url
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions import installing, starting, ui_triggers
from hatbox.extensions.alarm_scheduler import AlarmScheduler
from hatbox.extensions.background_place import BackgroundPlace
from hatbox.extensions.extension import Extension
from hatbox.extensions.installing import Candidate, Installation
from hatbox.extensions.log_publisher import LogPublisher
from hatbox.extensions.package.extension_urls import file_name
from hatbox.extensions.package.package_cache import PackageCache
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.package.stored_package import StoredPackage
from hatbox.extensions.package_repository import PackageRepository
from hatbox.extensions.pages.extension_tabs import ExtensionTabs
from hatbox.extensions.registry_sync import RegistrySync, with_area
from hatbox.extensions.run_options import RunOptions
from hatbox.extensions.runtime import DenoProcess, Exit, LogEntry, RuntimeLimits
from hatbox.messaging.message_router import MessageRouter
from hatbox.store.base import Store, Transaction
from hatbox.tasks import Tasks

__all__ = ["Extensions"]

logger = logging.getLogger("hatbox.extensions")


class Extensions:
    """The extensions of a profile."""

    def __init__(
        self, store: Store, dispatcher: Dispatcher, clock: Clock, messages: MessageRouter, cache: PackageCache
    ) -> None:
        self._store = store
        self._messages = messages
        self._dispatcher = dispatcher
        self.packages = PackageRepository(store, cache)
        """Reads packages: its cache, and the languages of the user."""
        self.page_tabs = ExtensionTabs(store, lambda: self.running)
        """Shows pages of extensions in the Chromium engine of this process."""
        self._alarms = AlarmScheduler(store, clock)
        self._registry = RegistrySync(store, self)
        self._logs = LogPublisher(store)
        self._running: dict[str, Extension] = {}
        self._starting: set[str] = set()
        self._reloads = Tasks(_log_reload_error)

    @property
    def running(self) -> list[Extension]:
        """The extensions that were started in this process and not stopped."""
        return list(self._running.values())

    def file_at(self, url: str) -> bytes | None:
        """The file at a moz-extension:// URL of an extension that runs in this process; None if it does not exist."""
        for extension in self._running.values():
            base = extension.manifest.base_url
            if url.startswith(base):
                return extension.package.read(file_name(url.removeprefix(base)))
        return None

    def handler_page(self, link: str) -> asyncio.Future[str | None]:
        """The page of a running extension that opens a link, such as ext+container:…; None if no extension does.

        The extension may run in another process. Open the page as any URL: Profile.open_tabs().
        """
        return self._store.read(lambda transaction: handled_url(transaction, link))

    def installed(self) -> asyncio.Future[list[InstalledExtension]]:
        """The extensions that are installed in the profile."""
        return self._store.read(lambda transaction: [each for each in installed.get_all(transaction) if each.permanent])

    def known(self) -> asyncio.Future[list[tuple[InstalledExtension, RunRecord | None]]]:
        """The installed extensions, and the temporary ones that run, here or in another process."""

        def read(transaction: Transaction) -> list[tuple[InstalledExtension, RunRecord | None]]:
            runs = {each.id: each for each in run_records.get_all(transaction)}
            every = installed.get_all(transaction)
            return [(each, runs.get(each.area)) for each in every if each.permanent or each.area in runs]

        return self._store.read(read)

    async def permissions(self, extension_id: str) -> ExtensionPermissions:
        """The required, granted and optional permissions of an extension."""
        return (await _read_grants(self._store, self.packages, extension_id)).permissions

    async def grant(self, extension_id: str, permissions: Permissions) -> None:
        """Grant optional permissions. permissions.onAdded is dispatched if the extension runs."""
        await _change_grants(self._store, self.packages, extension_id, lambda grants: grants.grant(permissions))

    async def revoke(self, extension_id: str, permissions: Permissions) -> None:
        """Revoke granted permissions. permissions.onRemoved is dispatched if the extension runs."""
        await _change_grants(self._store, self.packages, extension_id, lambda grants: grants.remove(permissions))

    async def package(self, extension_id: str) -> StoredPackage:
        """The package of an installed extension, for start(). The original files on disk are not read.

        It is read from the package cache if it is unchanged there, else from the profile.
        """
        return await self.packages.load_stored(extension_id)

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
        return await self.install_candidates(
            [await self.packages.candidate(path) for path in paths], replace=replace, keep_data=keep_data
        )

    def added_permissions(
        self, candidates: Sequence[Candidate], *, replace: bool = False
    ) -> asyncio.Future[list[tuple[InstalledExtension, Permissions]]]:
        """The installed extensions that these would update or replace, and would require more than before."""

        def read(transaction: Transaction) -> list[tuple[InstalledExtension, Permissions]]:
            known = [(installed.get(transaction, each.manifest.id), each) for each in candidates]
            found = [
                (before, installing.new_permissions(before, each.manifest))
                for before, each in known
                if before is not None
                and not before.needs_reinstall
                and (replace or installing.is_update(before, each.place, each.title))
            ]
            return [(before, added) for before, added in found if added]

        return self._store.read(read)

    async def install_candidates(
        self, candidates: Sequence[Candidate], *, replace: bool = False, keep_data: bool = False
    ) -> list[Installation]:
        """Install extensions whose files were read: all, or none if one of them cannot be installed."""

        def install(transaction: Transaction) -> list[Installation]:
            now = transaction.time()
            return [
                installing.install(transaction, each, now, replace=replace, keep_data=keep_data) for each in candidates
            ]

        if replace:
            await self._stop_replaced(candidates)
        done = await self._store.write(install)
        await self.packages.clean_cache([each.before.digest for each in done if each.before is not None])
        return done

    async def remove(self, extension_id: str) -> InstalledExtension:
        """Remove an extension and its data."""
        area = await _find_area(self._store, extension_id)
        if extension := with_area(self.running, area):
            await self.stop(extension)
        removed = await self._store.write(partial(_remove, area=area))
        await self.packages.clean_cache([removed.digest])
        return removed

    async def set_enabled(self, extension_id: str, enabled: bool) -> InstalledExtension:
        """Enable or disable an extension. A disabled extension is stopped in every process."""
        area = await _find_area(self._store, extension_id)
        return await self._store.write(lambda transaction: installed.set_enabled(transaction, area, enabled))

    async def adopt(self) -> None:
        """Upgrade records of earlier formats: store the files of installed extensions that are readable.

        Called when the profile has been opened.
        """
        for known in await self._store.read(installing.outdated):
            candidate = None
            if known.permanent:
                try:
                    candidate = await self.packages.candidate(known.path)
                except (ExtensionError, OSError) as error:
                    logger.warning("%s (%s) has to be installed again: %s", known.name, known.id, error)
            try:
                now = self._store.time()
                await self._store.write(partial(installing.adopt, known=known, candidate=candidate, now=now))
            except ProfileError as error:  # full or read-only: the next open tries again
                logger.warning("storing the files of %s failed: %s", known.id, error)

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
        on_test_report: TestReporter | None = None,
        child: DenoProcess | None = None,
        background_place: BackgroundPlace | None = None,
        is_startup: bool = True,
    ) -> Extension:
        """Run the extension in a folder or file until it is stopped. Resolves when its background scripts have run.

        A package() or the folder that was installed runs with the data and the grants of the installed extension.
        Otherwise the extension is temporary, and has a data area of its own, by its id and its real path.
        `decide` grants or denies the permissions that it requests; by default they are denied.
        With `on_test_report`, which receives its reports, scripts have browser.test.
        Without `is_startup`, runtime.onStartup is not dispatched, as for an extension that was enabled again.
        `on_run` is called when its scripts start to run, and `child` is a process for them that was started ahead.
        `background_place` selects where the background runs: `deno`, or `chromium`, a hidden document in the Chromium
        engine of this program. By default, a background page runs in Chromium if that engine is running, and the rest
        in Deno.
        """
        options = RunOptions(
            limits or RuntimeLimits(),
            inspect,
            idle_seconds,
            decide,
            child,
            on_run,
            on_log,
            on_exit,
            on_test_report,
            background_place,
        )
        loaded = await self.packages.load(path)
        manifest = loaded.manifest
        if manifest.id in self._running or manifest.id in self._starting:
            raise ExtensionError(f"{manifest.id} is already running. Stop it first.")
        self._starting.add(manifest.id)
        try:
            title = await self.packages.title(loaded)
            await self._store.register_process()
            opens_browser = self.page_tabs.opens_browser
            run = await self._store.write(
                lambda transaction: starting.register_start(transaction, loaded, title, opens_browser=opens_browser)
            )
        finally:
            self._starting.discard(manifest.id)
        extension = Extension(
            loaded,
            run,
            options,
            store=self._store,
            dispatcher=self._dispatcher,
            messages=self._messages,
            on_reload=lambda: self._reloads.spawn(self.reload(manifest.id)),
            page_tabs=self.page_tabs,
        )
        extension.host.on_log = partial(self._logs.add, run.area)
        self._logs.start(run.area)
        if not self._running:
            self._registry.start()
        self._running[manifest.id] = self._messages.running[manifest.id] = extension
        self._messages.on_running_changed.emit(None)
        self._alarms.watch(run.area)
        try:
            await extension.start(*starting.start_events(run, manifest, is_startup=is_startup))
            await _record_version(self._store, extension)
            await self.page_tabs.extension_started(extension)
        except BaseException:
            await self.stop(extension)
            raise
        return extension

    async def stop(self, extension: Extension) -> None:
        """End an extension that was started in this process."""
        self._running.pop(extension.id, None)
        self._messages.running.pop(extension.id, None)
        self._messages.on_running_changed.emit(None)
        self._alarms.unwatch(extension.area)
        if not self._running:
            self._registry.stop()
        await extension.stop()
        await self._logs.stop(extension.area)
        await self._store.write(lambda transaction: run_records.unregister_run(transaction, extension.area))

    def ui(self, extension_id: str | None = None) -> asyncio.Future[list[ui_triggers.ExtensionUi]]:
        """The menus, actions, commands and notifications of running extensions, here or in other processes."""
        return self._store.read(lambda transaction: ui_triggers.list_ui(transaction, extension_id))

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
        bookmark_id: str | None = None,
        close: bool = False,
    ) -> asyncio.Future[ui_triggers.TriggerResult]:
        """Perform a user action: `menu:ID`, `action`, `page-action`, `command:NAME` or `notification:ID`.

        It happens in a tab, by default the active one. A menu can be opened on a link, an image, selected text
        or a bookmark. With `close`, a notification is closed instead of clicked. Resolves when the listeners are
        called.
        """
        return self._store.write(
            lambda transaction: ui_triggers.trigger(
                transaction,
                extension_id,
                what,
                tab_id=tab_id,
                link_url=link_url,
                link_text=link_text,
                image_url=image_url,
                selection_text=selection_text,
                bookmark_id=bookmark_id,
                close=close,
            )
        )

    def open_page(
        self, extension_id: str, kind: str, *, tab_id: int | None = None
    ) -> asyncio.Future[ui_triggers.TriggerResult]:
        """Show the `popup`, `options` page or `sidebar` of a running extension, as in the active tab or another one.

        The process that runs the extension shows it, if it runs the Chromium engine too, or starts a Chromium for it,
        as an extension that was started on the manager page does. Otherwise raises TriggerError.
        In that process, `Extension.browser_pages` opens pages for Playwright.
        """
        return self._store.write(
            lambda transaction: ui_triggers.open_page(transaction, extension_id, kind, tab_id=tab_id)
        )

    async def reload(self, extension_id: str) -> None:
        """Restart an extension of this process: from the installed package, or from the current files of its folder."""
        extension = self._running[extension_id]
        old = extension.loaded
        try:
            loaded = await self.packages.load_current(old.package, extension.area)
            manifest = loaded.manifest
            if manifest.id != extension_id:
                raise ExtensionError(f"{loaded.package.path} is {manifest.id} now. Start that one instead.")
            title = await self.packages.title(loaded)
            await self._store.register_process()
            run = await self._store.write(
                lambda transaction: starting.register_restart(transaction, loaded, title, extension.area)
            )
        except ExtensionError as error:
            logger.error("reload of %s failed; still running the old version: %s", extension_id, error)
            return
        version = old.manifest.version
        events: starting.Events = []
        if not run.is_installed or version != manifest.version or old.digest != loaded.digest:
            events.append(starting.updated(version, temporary=not run.is_installed))
        await extension.restart(loaded, run, *events)
        self._messages.on_running_changed.emit(None)
        await _record_version(self._store, extension)

    async def close(self) -> None:
        """End all extensions of this process."""
        self.page_tabs.stop_reporting()
        for extension in self.running:
            await self.stop(extension)
        await self._messages.close()

    async def _stop_replaced(self, candidates: Iterable[Candidate]) -> None:
        """Stop running extensions before they are replaced: their last writes must not reach the new ones."""
        for each in candidates:
            extension = with_area(self.running, each.manifest.id)
            known = await self._store.read(partial(installed.get, area=each.manifest.id))
            if extension and known and not installing.is_update(known, each.place, each.title):
                await self.stop(extension)
                extension.notify_exit("it was replaced")


async def _find_area(store: Store, name: str) -> str:
    return await store.read(lambda transaction: run_records.find_area(transaction, name))


async def _record_version(store: Store, extension: Extension) -> None:
    version = extension.manifest.version
    await store.write(lambda transaction: installed.record_run(transaction, extension.area, version))


def _remove(transaction: Transaction, area: str) -> InstalledExtension:
    if run_records.get(transaction, area) is None:
        run_records.unregister_run(transaction, area)  # its process was killed
    removed = installed.remove(transaction, area)
    run_records.clean_up(transaction)
    return removed


def _log_reload_error(error: BaseException) -> None:
    logger.error("runtime.reload failed", exc_info=error)


class _StoredGrants(NamedTuple):
    """The permissions of an extension, as stored."""

    area: str
    permissions: ExtensionPermissions
    at_install: Permissions
    """The permissions that are granted until the first change is stored."""


async def _read_grants(store: Store, packages: PackageRepository, extension_id: str) -> _StoredGrants:
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
    return _StoredGrants(known.area, permissions, at_install)


async def _change_grants(
    store: Store, packages: PackageRepository, extension_id: str, change: Callable[[ExtensionPermissions], object]
) -> None:
    """Change the granted permissions, and store them."""
    area, _, at_install = await _read_grants(store, packages, extension_id)

    def save(transaction: Transaction) -> None:
        granted = load_granted(transaction, area)
        grants = ExtensionPermissions(NONE, NONE, at_install if granted is None else granted)
        change(grants)
        save_granted(transaction, area, grants.granted)

    await store.write(save)
