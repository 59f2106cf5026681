"""The namespace hatbox.extensions: what is installed and what runs, what it may do, its buttons, and its console."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final, NamedTuple

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.log_watching import MAX_WATCH_SECONDS, LogRecord, watch_log
from hatbox.extension_data.page_opening import (
    PAGE_ANSWERED,
    PAGE_CLOSED,
    PageCommand,
    command_page,
    decode_answer,
    decode_closed,
)
from hatbox.extensions.page_triggers import START_ON_PAGE
from hatbox.manager_api.managed_extensions.background_runs import BackgroundRuns
from hatbox.manager_api.managed_extensions.extension_changes import ExtensionChanges
from hatbox.manager_api.managed_extensions.extension_listing import ExtensionListing
from hatbox.manager_api.managed_extensions.logged_lines import LoggedLines, LogLines
from hatbox.manager_api.managed_extensions.package_uploads import PackageUploads
from hatbox.manager_api.managed_extensions.permission_sentences import as_permissions
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.schema import NamespaceSchema
from hatbox.store.base import ChangeRecord, Store, Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.store.recorded_calls import unrecorded

__all__ = ["implement"]

_COMMAND_SECONDS: Final = 15.0
_PAGE_SECONDS: Final = 60.0  # Chromium may have to be started


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ManagedExtensions(schema, services, profile)


class _ClosedPage(NamedTuple):
    id: str
    page: str


class _ManagedExtensions(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._profile = profile
        self._changes = ExtensionChanges(services.store)
        self._logged = LoggedLines(services.store)
        closed = ChangeEvents(services.store, "extensions").event("onPageClosed", PAGE_CLOSED, decode_closed)
        events = {
            "onChanged": EventBinding(self._changes, lambda _, changed: [changed]),
            "onPageClosed": EventBinding(closed, lambda _, each: [_ClosedPage(each.extension, each.page)]),
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

    def list(self, ids: Sequence[str] | None) -> asyncio.Future[Any]:
        return self._run("list", self._listing.list(ids))

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
        async with _expect_page(self._store, extension) as is_open:
            await self._profile.extensions.open_page(extension, kind)
            if kind != "sidebar":  # which is open in the profile, whether it is shown or not
                await is_open("The page is not open")

    def bring_page_to_front(self, extension: str, page: str) -> asyncio.Future[Any]:
        return self._run("bringPageToFront", self._command_page(PageCommand(extension, page, "front")))

    def close_page(self, extension: str, page: str) -> asyncio.Future[Any]:
        return self._run("closePage", self._command_page(PageCommand(extension, page, "close")))

    async def _command_page(self, wanted: PageCommand) -> None:
        async with _expect_page(self._store, wanted.extension, _COMMAND_SECONDS) as is_done:
            with unrecorded():  # the process of the extension has not done it yet
                requested = self._store.write(lambda transaction: _command_page(transaction, wanted))
            await requested
            await is_done("Nothing was changed")

    def click_menu(self, extension: str, menu_id: str) -> asyncio.Future[Any]:
        return self._run("clickMenu", self._trigger(extension, f"menu:{menu_id}"))

    def run_command(self, extension: str, name: str) -> asyncio.Future[Any]:
        return self._run("runCommand", self._trigger(extension, f"command:{name}"))

    async def _trigger(self, extension: str, what: str) -> bool:
        """Returns whether a popup is open. Raises ApiError if it is not shown."""
        async with _expect_page(self._store, extension) as is_open:
            result = await self._profile.extensions.trigger(extension, what)
            if result.popup and not result.shown:
                raise ApiError(f"Its popup is not open. {START_ON_PAGE}")
            if result.popup:
                await is_open("The popup is not open")
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
        with unrecorded():  # the call reads: repeated, it returns the lines
            watched = self._store.write(lambda transaction: _watch(transaction, extension))
        record = await watched
        self._logged.watched(extension, MAX_WATCH_SECONDS)
        return LogLines(extension, record.run, record.lines)


def _command_page(transaction: Transaction, wanted: PageCommand) -> None:
    if run_records.get(transaction, wanted.extension) is None:
        raise ApiError("This extension is not running any more, so its pages are closed.")
    command_page(transaction, wanted)


def _watch(transaction: Transaction, extension: str) -> LogRecord:
    if installed.get(transaction, extension) is None and run_records.get(transaction, extension) is None:
        raise ExtensionNotFound(extension)
    return watch_log(transaction, extension)


async def _result(work: Any) -> Any:
    return work()


@asynccontextmanager
async def _expect_page(
    store: Store, area: str, seconds: float = _PAGE_SECONDS
) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Request a page of an extension in the block, and then await the result. It gets the words for a failure.

    Raises ApiError if the page is not shown.
    """
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_change(change: ChangeRecord) -> None:
        if change.topic == PAGE_ANSWERED and not answered.done():
            answer = decode_answer(change.payload)
            if answer.extension == area:
                answered.set_result(answer.error)

    async def wait(failure: str) -> None:
        try:
            async with asyncio.timeout(seconds):
                problem = await answered
        except TimeoutError:
            problem = f"the process of the extension did not answer within {seconds:g} seconds. Stop and start it."
        if problem:
            raise ApiError(f"{failure}: {problem}")

    store.subscribe(on_change)
    try:
        yield wait
    finally:
        store.unsubscribe(on_change)
