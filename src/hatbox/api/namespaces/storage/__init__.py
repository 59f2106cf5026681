"""The namespaces storage, storage.local, storage.sync, storage.session and storage.managed."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.storage import managed_storage
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.extension_data import installed_extensions
from hatbox.extension_data.storage import storage_items
from hatbox.extension_data.storage.storage_areas import AREAS, StorageArea
from hatbox.extension_data.storage.storage_items import CHANGED, Keys, StorageChanged
from hatbox.javascript.wire_codec import decode
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store, Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]

_MAX_KEYS_IN_LOOP: Final = 500  # keys that get() reads in the event loop, which it blocks
_MAX_LOCAL_BYTES: Final = 10 * 2**30


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the extension storage of a profile."""
    _, _, area = schema.namespace.partition(".")
    if area == "managed":
        return _Managed(schema, services)
    return _Area(schema, services, AREAS[area]) if area else _Storage(schema, services)


class _Storage(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        events = {"onChanged": EventBinding(_changed_event(services.store), _any_changed_args)}
        super().__init__(schema, services.store, events)


class _Area(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services, area: StorageArea) -> None:
        self._area = area
        self._folder = services.store.side_folder
        events = {"onChanged": EventBinding(_changed_event(services.store), self._changed_args)}
        super().__init__(schema, services.store, events)

    def get(self, caller: Caller, keys: Keys | Mapping[str, Any]) -> asyncio.Future[Any]:
        many = isinstance(keys, (list, Mapping)) and len(keys) > _MAX_KEYS_IN_LOOP
        run = self._write if many else self._read  # writes run in a thread
        return run("get", storage_items.get, caller.id, self._area, keys)

    def get_keys(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getKeys", storage_items.get_keys, caller.id, self._area)

    def get_bytes_in_use(self, caller: Caller, keys: Keys) -> asyncio.Future[Any]:
        return self._read("getBytesInUse", storage_items.bytes_in_use, caller.id, self._area, keys)

    def set(self, caller: Caller, items: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("set", storage_items.set_items, caller.id, self._area, items, self._quota(caller))

    def remove(self, caller: Caller, keys: str | Sequence[str]) -> asyncio.Future[Any]:
        return self._write("remove", storage_items.remove, caller.id, self._area, keys)

    def clear(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("clear", storage_items.clear, caller.id, self._area)

    def _quota(self, caller: Caller) -> int | None:
        """The limit of storage.local is that of IndexedDB in Firefox: a tenth of the disk, at most 10 GiB."""
        if self._area.name != "local" or "unlimitedStorage" in caller.permissions:
            return None
        if self._folder is None:
            return _MAX_LOCAL_BYTES
        return min(_MAX_LOCAL_BYTES, shutil.disk_usage(self._folder).total // 10)

    def _changed_args(self, caller: Caller, change: StorageChanged) -> tuple[Any] | None:
        """(changes)"""
        args = _changed_args(caller, change)
        return None if args is None or change.area != self._area.name else args[:1]


class _Managed(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._folder = services.store.side_folder
        # Never emitted: managed storage does not change while an extension runs.
        events = {"onChanged": EventBinding(Event("storage.managed.onChanged"), _changed_args)}
        super().__init__(schema, services.store, events)

    def get(self, caller: Caller, keys: Keys | Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("get", lambda each: managed_storage.get(self._folder, _managed_id(each, caller), keys))

    def get_keys(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getKeys", lambda each: managed_storage.get_keys(self._folder, _managed_id(each, caller)))

    def get_bytes_in_use(self, caller: Caller, _: Keys) -> asyncio.Future[Any]:
        return self._read("getBytesInUse", lambda _: managed_storage.bytes_in_use(caller.id))

    def set(self, _: Caller, __: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("set", lambda _: managed_storage.reject_write())

    def remove(self, _: Caller, __: str | Sequence[str]) -> asyncio.Future[Any]:
        return self._read("remove", lambda _: managed_storage.reject_write())

    def clear(self, _: Caller) -> asyncio.Future[Any]:
        return self._read("clear", lambda _: managed_storage.reject_write())


def _managed_id(transaction: Transaction, caller: Caller) -> str:
    """The id whose file a caller reads: its extension id, unless a temporary installation claims an installed id."""
    is_own = caller.id == caller.extension_id or installed_extensions.get(transaction, caller.extension_id) is None
    return caller.extension_id if is_own else caller.id


def _changed_event(store: Store) -> Event[StorageChanged]:
    return ChangeEvents(store, "storage").event("onChanged", CHANGED, msgspec.json.Decoder(StorageChanged).decode)


def _changed_args(caller: Caller, change: StorageChanged) -> tuple[Any, str] | None:
    """(changes, areaName) for the extension whose storage changed."""
    return (decode(change.changes.encode()), change.area) if change.extension == caller.id else None


def _any_changed_args(caller: Caller, change: StorageChanged) -> tuple[Any, str] | None:
    """The same for the areas that the caller has. Content scripts have no storage.session."""
    is_hidden = change.area == "session" and isinstance(caller, ExtensionCaller) and caller.context.kind is None
    return None if is_hidden else _changed_args(caller, change)
