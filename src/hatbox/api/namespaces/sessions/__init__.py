"""The namespace sessions: values that an extension attaches to tabs and windows, and recently closed tabs.

Transaction functions. Error messages match Firefox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.sessions import closed_sessions
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_functions import resolve_window_id
from hatbox.api.services import Services
from hatbox.errors import ApiError, InvalidWindow
from hatbox.extension_data.storage.structured_clone import stringified
from hatbox.javascript.text import well_formed
from hatbox.javascript.wire_codec import UNDEFINED, decode, encode
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.tabs.closed_tabs import CLOSED_TABS_CHANGED
from hatbox.tabs.session_values import kind_of_tab, kind_of_window
from hatbox.tabs.strip import row_of

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the tabs and windows of a profile."""
    return _Sessions(schema, services)


class _Sessions(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        feed = ChangeEvents(services.store, "sessions")
        changed = EventBinding(feed.event("onChanged", CLOSED_TABS_CHANGED, lambda _: None), lambda *_: ())
        super().__init__(schema, services.store, {"onChanged": changed})

    def get_recently_closed(self, caller: Caller, details: Mapping[str, int | None]) -> asyncio.Future[Any]:
        access, limit = tab_access(caller), details["maxResults"]
        return self._read("getRecentlyClosed", closed_sessions.get_recently_closed, access, limit)

    def restore(self, caller: Caller, session_id: str | None) -> asyncio.Future[Any]:
        return self._write("restore", closed_sessions.restore, tab_access(caller), session_id)

    def forget_closed_tab(self, _: Caller, window_id: int, session_id: str) -> asyncio.Future[Any]:
        return self._write("forgetClosedTab", closed_sessions.forget_tab, window_id, session_id)

    def forget_closed_window(self, _: Caller, session_id: str) -> asyncio.Future[Any]:
        return self._write("forgetClosedWindow", closed_sessions.forget_window, session_id)

    def set_tab_value(self, caller: Caller, tab_id: int, key: str, value: Any) -> asyncio.Future[Any]:
        return self._write("setTabValue", lambda each: _set(each, caller.id, _tab(each, tab_id), key, value))

    def get_tab_value(self, caller: Caller, tab_id: int, key: str) -> asyncio.Future[Any]:
        return self._read("getTabValue", lambda each: _get(each, caller.id, _tab(each, tab_id), key))

    def remove_tab_value(self, caller: Caller, tab_id: int, key: str) -> asyncio.Future[Any]:
        return self._write("removeTabValue", lambda each: _remove(each, caller.id, _tab(each, tab_id), key))

    def set_window_value(self, caller: Caller, window_id: int, key: str, value: Any) -> asyncio.Future[Any]:
        return self._write("setWindowValue", lambda each: _set(each, caller.id, _window(each, window_id), key, value))

    def get_window_value(self, caller: Caller, window_id: int, key: str) -> asyncio.Future[Any]:
        return self._read("getWindowValue", lambda each: _get(each, caller.id, _window(each, window_id), key))

    def remove_window_value(self, caller: Caller, window_id: int, key: str) -> asyncio.Future[Any]:
        return self._write("removeWindowValue", lambda each: _remove(each, caller.id, _window(each, window_id), key))


def _tab(transaction: Transaction, tab_id: int) -> str:
    """The kind of the rows with the values of an open tab."""
    return kind_of_tab(row_of(transaction, tab_id).id)


def _window(transaction: Transaction, window_id: int) -> str:
    """The kind of the rows with the values of an open window."""
    resolved = resolve_window_id(transaction, window_id)
    if resolved is None or transaction.windows.get(resolved) is None:
        raise InvalidWindow(window_id)
    return kind_of_window(resolved)


def _set(transaction: Transaction, extension: str, kind: str, key: str, value: Any) -> None:
    if value is UNDEFINED:
        raise ApiError("An unexpected error occurred")
    transaction.extensions.put(extension, kind, well_formed(key), encode(stringified(value)))


def _get(transaction: Transaction, extension: str, kind: str, key: str) -> Any:
    value = transaction.extensions.get(extension, kind, well_formed(key))
    return UNDEFINED if value is None else decode(value)


def _remove(transaction: Transaction, extension: str, kind: str, key: str) -> None:
    transaction.extensions.delete(extension, kind, well_formed(key))
