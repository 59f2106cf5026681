"""The namespace windows."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.windows import window_functions
from hatbox.api.namespaces.windows.window_functions import Details
from hatbox.api.namespaces.windows.window_views import WindowView
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema
from hatbox.tabs.tab_model import Window

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the windows of a profile."""
    return _Windows(schema, services)


class _Windows(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        tabs = services.tabs
        events = {
            "onCreated": EventBinding(tabs.on_window_created, _created_args),
            "onRemoved": EventBinding(tabs.on_window_removed, _id_args),
            "onFocusChanged": EventBinding(tabs.on_window_focused, _id_args),
        }
        super().__init__(schema, services.store, events)

    def get(self, caller: Caller, window_id: int, details: Details | None) -> asyncio.Future[Any]:
        return self._read("get", window_functions.get, tab_access(caller), window_id, details)

    def get_current(self, caller: Caller, details: Details | None) -> asyncio.Future[Any]:
        return self._read("getCurrent", window_functions.get_last_focused, tab_access(caller), details)

    def get_last_focused(self, caller: Caller, details: Details | None) -> asyncio.Future[Any]:
        return self._read("getLastFocused", window_functions.get_last_focused, tab_access(caller), details)

    def get_all(self, caller: Caller, details: Details | None) -> asyncio.Future[Any]:
        return self._read("getAll", window_functions.get_all, tab_access(caller), details)

    def create(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._write("create", window_functions.create, tab_access(caller), details)

    def update(self, caller: Caller, window_id: int, details: Details) -> asyncio.Future[Any]:
        return self._write("update", window_functions.update, tab_access(caller), window_id, details)

    def remove(self, _: Caller, window_id: int) -> asyncio.Future[Any]:
        return self._write("remove", window_functions.remove, window_id)


def _created_args(caller: Caller, window: Window) -> tuple[WindowView]:
    return (WindowView(window, [], tab_access(caller)),)


def _id_args(_: Caller, window_id: int) -> tuple[int]:
    return (window_id,)
