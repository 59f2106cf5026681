"""The namespaces storage, storage.local, .sync, .session and .managed. What they do is in `rules` and `managed`."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.storage import managed_storage as managed
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.storage import storage_items as rules
from hatbox.extension_data.storage.storage_areas import AREAS, Area
from hatbox.extension_data.storage.storage_items import CHANGED, Keys, StorageChanged
from hatbox.javascript.wire_codec import decode
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store, Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]

_MANY: Final = 500  # keys that are looked up while everybody else waits
_MAX_LOCAL_BYTES: Final = 10 * 2**30


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on what extensions keep in a profile."""
    _, _, area = surface.namespace.partition(".")
    if area == "managed":
        return _Managed(surface, services)
    return _Area(surface, services, AREAS[area]) if area else _Storage(surface, services)


class _Storage(Namespace):
    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        super().__init__(surface, services.store, {"onChanged": EventBinding(_changed(services.store), _told)})


class _Area(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services, area: Area) -> None:
        self._area = area
        self._folder = services.store.side_folder
        super().__init__(surface, services.store, {"onChanged": EventBinding(_changed(services.store), self._told)})

    def get(self, caller: Caller, keys: Keys | Mapping[str, Any]) -> asyncio.Future[Any]:
        many = isinstance(keys, (list, Mapping)) and len(keys) > _MANY
        run = self._write if many else self._read  # writing happens in a thread, where it delays nobody
        return run("get", rules.get, caller.id, self._area, keys)

    def get_keys(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getKeys", rules.get_keys, caller.id, self._area)

    def get_bytes_in_use(self, caller: Caller, keys: Keys) -> asyncio.Future[Any]:
        return self._read("getBytesInUse", rules.bytes_in_use, caller.id, self._area, keys)

    def set(self, caller: Caller, items: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("set", rules.set_items, caller.id, self._area, items, self._quota(caller))

    def remove(self, caller: Caller, keys: str | Sequence[str]) -> asyncio.Future[Any]:
        return self._write("remove", rules.remove, caller.id, self._area, keys)

    def clear(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("clear", rules.clear, caller.id, self._area)

    def _quota(self, caller: Caller) -> int | None:
        """The limit of `local` is that of IndexedDB in Firefox: a tenth of the disk, at most 10 GiB."""
        if self._area.name != "local" or "unlimitedStorage" in caller.permissions:
            return None
        if self._folder is None:
            return _MAX_LOCAL_BYTES
        return min(_MAX_LOCAL_BYTES, shutil.disk_usage(self._folder).total // 10)

    def _told(self, caller: Caller, change: StorageChanged) -> tuple[Any] | None:
        """(changes)"""
        told = _told(caller, change)
        return None if told is None or change.area != self._area.name else told[:1]


class _Managed(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._folder = services.store.side_folder
        # It never happens: what is laid down is what an extension finds when it starts.
        super().__init__(
            surface, services.store, {"onChanged": EventBinding(Event("storage.managed.onChanged"), _told)}
        )

    def get(self, caller: Caller, keys: Keys | Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("get", lambda each: managed.get(self._folder, _managed_for(each, caller), keys))

    def get_keys(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getKeys", lambda each: managed.get_keys(self._folder, _managed_for(each, caller)))

    def get_bytes_in_use(self, caller: Caller, _: Keys) -> asyncio.Future[Any]:
        return self._read("getBytesInUse", lambda _: managed.bytes_in_use(caller.id))

    def set(self, _: Caller, __: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("set", lambda _: managed.refuse())

    def remove(self, _: Caller, __: str | Sequence[str]) -> asyncio.Future[Any]:
        return self._read("remove", lambda _: managed.refuse())

    def clear(self, _: Caller) -> asyncio.Future[Any]:
        return self._read("clear", lambda _: managed.refuse())


def _managed_for(transaction: Transaction, caller: Caller) -> str:
    """The id whose values a caller sees: its own, unless it only claims the id of an installed extension."""
    own = caller.id == caller.extension_id or installed.get(transaction, caller.extension_id) is None
    return caller.extension_id if own else caller.id


def _changed(store: Store) -> Event[StorageChanged]:
    return ChangeEvents(store, "storage").event("onChanged", CHANGED, msgspec.json.Decoder(StorageChanged).decode)


def _told(caller: Caller, change: StorageChanged) -> tuple[Any, str] | None:
    """(changes, areaName), if they are the caller's own."""
    return (decode(change.changes.encode()), change.area) if change.extension == caller.id else None
