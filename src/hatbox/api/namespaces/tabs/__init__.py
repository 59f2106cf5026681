"""The namespace tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs import tab_functions, tab_listener_args, tab_strip_functions
from hatbox.api.namespaces.tabs.shown_pages import ShownPages
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_functions import Details
from hatbox.api.namespaces.tabs.tab_injection import (
    UNEXPECTED,
    InjectionRequest,
    TabInjector,
    require_clonable,
    sources_of,
)
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import Recipient
from hatbox.messaging.ports import Port
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]

_ALL_URLS: Final = "<all_urls>"

TabIds: TypeAlias = int | Sequence[int]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the tabs of a profile."""
    return _Tabs(schema, services)


class _Tabs(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        tabs = services.tabs
        self._messages = services.messages
        self._injector = TabInjector(services)
        self._shown_pages = ShownPages(tabs)
        events = {
            "onCreated": EventBinding(tabs.on_created, tab_listener_args.created),
            "onUpdated": EventBinding(tabs.on_updated, tab_listener_args.updated),
            "onMoved": EventBinding(tabs.on_moved, tab_listener_args.moved),
            "onActivated": EventBinding(tabs.on_activated, tab_listener_args.activated),
            "onHighlighted": EventBinding(tabs.on_highlighted, tab_listener_args.highlighted),
            "onDetached": EventBinding(tabs.on_detached, tab_listener_args.detached),
            "onAttached": EventBinding(tabs.on_attached, tab_listener_args.attached),
            "onRemoved": EventBinding(tabs.on_removed, tab_listener_args.removed),
            "onReplaced": EventBinding(Event("tabs.onReplaced"), tab_listener_args.replaced),
        }
        super().__init__(schema, services.store, events)

    def send_message(self, caller: Caller, tab_id: int, message: Any, options: Details | None) -> asyncio.Future[Any]:
        recipient = _recipient(caller, tab_id, options)
        return asyncio.ensure_future(self._messages.send(caller.context, recipient, message))

    def connect(self, caller: Caller, tab_id: int, info: Details | None) -> Port:
        name = (info or {}).get("name") or ""
        return self._messages.connect(caller.context, _recipient(caller, tab_id, info), name)

    def execute_script(self, caller: Caller, tab_id: int | None, details: Details) -> asyncio.Future[Any]:
        return asyncio.ensure_future(_execute_script(self._injector, caller, tab_id, details))

    def insert_css(self, caller: Caller, tab_id: int | None, details: Details) -> asyncio.Future[Any]:
        return asyncio.ensure_future(_insert_css(self._injector, caller, tab_id, details))

    def remove_css(self, caller: Caller, tab_id: int | None, details: Details) -> asyncio.Future[Any]:
        return asyncio.ensure_future(_remove_css(self._injector, caller, tab_id, details))

    def get(self, caller: Caller, tab_id: int) -> asyncio.Future[Any]:
        return self._read("get", tab_functions.get, tab_access(caller), tab_id)

    def get_current(self, caller: Caller) -> asyncio.Future[Any]:
        tab_id = caller.context.tab_id
        if tab_id is None:
            return self._read("getCurrent", lambda _: UNDEFINED)
        return self._read("get", tab_functions.get, tab_access(caller), tab_id)

    def create(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._write("create", tab_functions.create, tab_access(caller), details)

    def duplicate(self, caller: Caller, tab_id: int, details: Details | None) -> asyncio.Future[Any]:
        return self._write("duplicate", tab_functions.duplicate_tab, tab_access(caller), tab_id, details)

    def query(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._read("query", tab_functions.query, tab_access(caller), details)

    def update(self, caller: Caller, tab_id: int | None, details: Details) -> asyncio.Future[Any]:
        return self._write("update", tab_functions.update, tab_access(caller), tab_id, details)

    def move(self, caller: Caller, tab_ids: TabIds, details: Details) -> asyncio.Future[Any]:
        return self._write("move", tab_functions.move, tab_access(caller), _list(tab_ids), details)

    def reload(self, caller: Caller, tab_id: int | None, _: Details | None) -> asyncio.Future[Any]:
        return self._write("reload", tab_functions.reload_tab, tab_access(caller), tab_id)

    def remove(self, _: Caller, tab_ids: TabIds) -> asyncio.Future[Any]:
        return self._write("remove", tab_functions.remove, _list(tab_ids))

    def highlight(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._write("highlight", tab_strip_functions.highlight, tab_access(caller), details)

    def warmup(self, _: Caller, tab_id: int) -> asyncio.Future[Any]:
        return self._read("warmup", tab_strip_functions.warmup, tab_id)

    def discard(self, _: Caller, tab_ids: TabIds) -> asyncio.Future[Any]:
        return self._write("discard", tab_strip_functions.discard_tabs, _list(tab_ids))

    def move_in_succession(
        self, _: Caller, tab_ids: Sequence[int], tab_id: int | None, options: Details | None
    ) -> asyncio.Future[Any]:
        return self._write("moveInSuccession", tab_strip_functions.move_in_succession, tab_ids, tab_id, options)

    def group(self, _: Caller, options: Details) -> asyncio.Future[Any]:
        return self._write("group", tab_strip_functions.group, _list(options["tabIds"]), options)

    def ungroup(self, _: Caller, tab_ids: TabIds) -> asyncio.Future[Any]:
        return self._write("ungroup", tab_strip_functions.ungroup, _list(tab_ids))

    def capture_tab(self, _: Caller, tab_id: int | None, options: Details | None) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._shown_pages.capture_tab(tab_id, options))

    def capture_visible_tab(
        self, caller: Caller, window_id: int | None, options: Details | None
    ) -> asyncio.Future[Any]:
        access = None if _ALL_URLS in caller.permissions else tab_access(caller)
        return asyncio.ensure_future(self._shown_pages.capture_visible_tab(access, window_id, options))

    def go_back(self, _: Caller, tab_id: int | None) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._shown_pages.move_in_history(tab_id, -1))

    def go_forward(self, _: Caller, tab_id: int | None) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._shown_pages.move_in_history(tab_id, 1))

    def hide(self, caller: Caller, tab_ids: TabIds) -> asyncio.Future[Any]:
        extension = caller.id if isinstance(caller, ExtensionCaller) else None
        return self._write("hide", tab_functions.hide_tabs, _list(tab_ids), extension)

    def show(self, _: Caller, tab_ids: TabIds) -> asyncio.Future[Any]:
        return self._write("show", tab_functions.show_tabs, _list(tab_ids))


def _recipient(caller: Caller, tab_id: int, details: Details | None) -> Recipient:
    options = details or {"frameId": None, "documentId": None}
    return Recipient(caller.extension_id, tab_id, options["frameId"], options["documentId"])


def _list(tab_ids: TabIds) -> list[int]:
    return [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)


async def _execute_script(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> list[Any]:
    """Run a script in frames of a tab; its results, one for each frame."""
    tab = await injector.ready_tab(tab_id)
    request = _request(caller, details, "executeScript")
    results = await injector.execute(caller, tab, request)
    for each in results:
        if each.error is not None:
            raise ApiError(each.error.message or UNEXPECTED)
    require_clonable(caller, request, results)
    return [each.value for each in results]


async def _insert_css(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> None:
    """Add a style sheet to documents of a tab."""
    tab = await injector.ready_tab(tab_id)
    await injector.insert_css(caller, tab, _request(caller, details, "insertCSS"))


async def _remove_css(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> None:
    """Remove a style sheet from documents of a tab."""
    tab = await injector.ready_tab(tab_id)
    await injector.remove_css(caller, tab, _request(caller, details, "removeCSS"))


def _request(caller: Caller, details: Details, method: str) -> InjectionRequest:
    code, file, frame_id = details["code"], details["file"], details["frameId"]
    if (code is None) == (file is None):
        raise ApiError(f"{method} requires either a 'code' or a 'file' property, but not both")
    if frame_id is not None and details["allFrames"]:
        raise ApiError("'frameId' and 'allFrames' are mutually exclusive")
    return InjectionRequest(
        sources=sources_of(caller, None if file is None else [file], code),
        frame_ids=None if details["allFrames"] else (frame_id or 0,),
        run_at=details["runAt"],
        css_origin=details["cssOrigin"],
        match_about_blank=bool(details["matchAboutBlank"]),
    )
