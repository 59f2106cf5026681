"""The namespace hatbox.extensions: what is installed and what runs, what it may do, its buttons, and its console."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import cached_property
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError, ExtensionError, ExtensionNotFound, HatboxError, ProfileError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.log_watching import MAX_WATCH_SECONDS, LogRecord, watch_log
from hatbox.extensions.page_triggers import NO_PAGE_ENGINE
from hatbox.manager_api.managed_extensions.background_runs import BackgroundRuns
from hatbox.manager_api.managed_extensions.extension_events import ExtensionChanges, LoggedLines, LogLines
from hatbox.manager_api.managed_extensions.extension_listing import ExtensionListing
from hatbox.manager_api.managed_extensions.package_uploads import PackageUploads
from hatbox.manager_api.managed_extensions.page_answers import expect_page
from hatbox.manager_api.managed_extensions.permission_sentences import as_permissions
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ManagedExtensions(schema, services, profile)


class _ManagedExtensions(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._profile = profile
        self._changes = ExtensionChanges(services.store)
        self._logged = LoggedLines(services.store)
        events = {
            "onChanged": EventBinding(self._changes.event, lambda _, changed: [changed]),
            "onLog": EventBinding(self._logged.event, lambda _, lines: [lines]),
        }
        super().__init__(schema, services.store, events)

    @cached_property
    def _listing(self) -> ExtensionListing:
        return ExtensionListing(self._store, self._profile.extensions.packages)

    @cached_property
    def _runs(self) -> BackgroundRuns:
        return BackgroundRuns(self._store, self._profile.address)

    @cached_property
    def _uploads(self) -> PackageUploads:
        return PackageUploads(self._store, self._profile.extensions)

    def list(self) -> asyncio.Future[Any]:
        return self._run("list", self._listing.list())

    # ── Permissions ──

    def grant(self, extension: str, permission: str) -> asyncio.Future[Any]:
        return self._run("grant", self._change_grant(extension, permission, grant=True))

    def revoke(self, extension: str, permission: str) -> asyncio.Future[Any]:
        return self._run("revoke", self._change_grant(extension, permission, grant=False))

    async def _change_grant(self, extension: str, permission: str, *, grant: bool) -> None:
        extensions, wanted = self._profile.extensions, as_permissions(permission)
        current = await extensions.permissions(extension)
        if current.required | wanted == current.required:
            raise ApiError(f"{permission} is required: the extension does not run without it. Remove the extension.")
        if grant:
            current.check_request(wanted)
            await extensions.grant(extension, wanted)
        else:
            await extensions.revoke(extension, wanted)

    # ── Buttons, pages, menus, commands ──

    def click_action(self, extension: str) -> asyncio.Future[Any]:
        return self._run("clickAction", self._click(extension))

    async def _click(self, extension: str) -> bool:
        ui = await self._profile.extensions.ui(extension)
        what = "page-action" if ui and ui[0].action is None and ui[0].page_action is not None else "action"
        return await self._trigger(extension, what)

    def open_options(self, extension: str) -> asyncio.Future[Any]:
        return self._run("openOptions", self._open_page(extension, "options"))

    def open_sidebar(self, extension: str) -> asyncio.Future[Any]:
        return self._run("openSidebar", self._open_page(extension, "sidebar"))

    async def _open_page(self, extension: str, kind: str) -> None:
        async with expect_page(self._store, extension) as is_open:
            await self._profile.extensions.open_page(extension, kind)
            if kind != "sidebar":  # which is open in the profile, whether it is shown or not
                await is_open("The page")

    def click_menu(self, extension: str, menu_id: str) -> asyncio.Future[Any]:
        return self._run("clickMenu", self._trigger(extension, f"menu:{menu_id}"))

    def run_command(self, extension: str, name: str) -> asyncio.Future[Any]:
        return self._run("runCommand", self._trigger(extension, f"command:{name}"))

    async def _trigger(self, extension: str, what: str) -> bool:
        """Returns whether a popup is open. Raises ApiError if it is not shown."""
        async with expect_page(self._store, extension) as is_open:
            result = await self._profile.extensions.trigger(extension, what)
            if result.popup and not result.shown:
                raise ApiError(f"Its popup is not open. {NO_PAGE_ENGINE}")
            if result.popup:
                await is_open("The popup")
            return bool(result.popup)

    # ── Running, installing, removing ──

    def start(self, extension: str) -> asyncio.Future[Any]:
        return self._run("start", self._runs.start(extension))

    def stop(self, extension: str) -> asyncio.Future[Any]:
        return self._run("stop", self._runs.stop(extension))

    def begin_install(self, name: str, size: int) -> asyncio.Future[Any]:
        return self._run("beginInstall", _result(lambda: self._uploads.begin(name, size)))

    def add_install_part(self, token: str, part: str) -> asyncio.Future[Any]:
        return self._run("addInstallPart", _result(lambda: self._uploads.add(token, part)))

    def prepare_install(self, token: str) -> asyncio.Future[Any]:
        return self._run("prepareInstall", self._uploads.prepare(token))

    def install(self, token: str, options: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        wanted = options or {}
        replace, keep_data = bool(wanted.get("replace")), bool(wanted.get("keepData"))
        return self._run("install", self._install(token, replace=replace, keep_data=keep_data))

    async def _install(self, token: str, *, replace: bool, keep_data: bool) -> str:
        return (await self._uploads.install(token, replace=replace, keep_data=keep_data)).area

    def cancel_install(self, token: str) -> asyncio.Future[Any]:
        return self._run("cancelInstall", _result(lambda: self._uploads.cancel(token)))

    def remove(self, extension: str) -> asyncio.Future[Any]:
        return self._run("remove", self._remove(extension))

    async def _remove(self, extension: str) -> None:
        await self._profile.extensions.remove(extension)

    # ── The console ──

    def log(self, extension: str) -> asyncio.Future[Any]:
        return self._run("log", self._watch(extension))

    async def _watch(self, extension: str) -> LogLines:
        record = await self._store.write(lambda transaction: _watch(transaction, extension))
        self._logged.watched(extension, MAX_WATCH_SECONDS)
        return LogLines(extension, record.run, record.lines)

    def _run(self, member: str, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._converted(member, work))

    async def _converted(self, member: str, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            result = await work
        except (ApiError, ProfileError):
            raise
        except HatboxError as error:
            raise ApiError(_sentence(error)) from error
        return self._result_converters[member](result)


def _watch(transaction: Transaction, extension: str) -> LogRecord:
    if installed.get(transaction, extension) is None and run_records.get(transaction, extension) is None:
        raise ExtensionNotFound(extension)
    return watch_log(transaction, extension)


async def _result(work: Any) -> Any:
    return work()


def _sentence(error: HatboxError) -> str:
    text = str(error)
    if isinstance(error, ExtensionError) and text[:1].islower():
        return text[:1].upper() + text[1:]
    return text
