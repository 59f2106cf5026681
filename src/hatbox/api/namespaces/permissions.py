"""The namespace permissions: what an extension holds, asks for and gives back. The rules are in `grants`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extension_data.granted_permissions import ADDED, REMOVED, PermissionsChanged, grant, revoke
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on what extensions were given in a profile."""
    return _Permissions(surface, services)


class _Permissions(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        feed, decode = ChangeEvents(services.store, "permissions"), msgspec.json.Decoder(PermissionsChanged).decode
        events = {
            "onAdded": EventBinding(feed.event("onAdded", ADDED, decode), _told),
            "onRemoved": EventBinding(feed.event("onRemoved", REMOVED, decode), _told),
        }
        super().__init__(surface, services.store, events)

    def get_all(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAll", lambda _: caller.grants.get_all())

    def contains(self, caller: ExtensionCaller, wanted: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        return self._read("contains", lambda _: caller.grants.contains(_permissions(wanted)))

    def request(self, caller: ExtensionCaller, wanted: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        # Whether the user is doing something counts when the call is made, not when it gets its turn.
        return asyncio.ensure_future(
            self._request(caller, _permissions(wanted), user_input=caller.is_handling_user_input)
        )

    async def _request(self, caller: ExtensionCaller, wanted: Permissions, *, user_input: bool) -> bool:
        if not user_input:
            raise ApiError("permissions.request may only be called from a user input handler")
        caller.grants.check_request(wanted)
        missing = caller.grants.missing(wanted)
        if not missing:
            return True
        if not await caller.on_permission_request(missing):
            return False
        await self._store.write(lambda transaction: grant(transaction, caller.id, missing))
        caller.grants.grant(missing)  # whoever runs the extension has heard of it by now; nobody has to
        return True

    def remove(self, caller: ExtensionCaller, unwanted: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._remove(caller, _permissions(unwanted)))

    async def _remove(self, caller: ExtensionCaller, unwanted: Permissions) -> bool:
        await self._store.write(lambda transaction: revoke(transaction, caller.id, unwanted))
        caller.grants.remove(unwanted)
        return True


def _permissions(given: Mapping[str, Sequence[str]]) -> Permissions:
    return Permissions(tuple(given["permissions"]), tuple(given["origins"]), tuple(given["data_collection"]))


def _told(caller: Caller, change: PermissionsChanged) -> tuple[Permissions] | None:
    """(permissions), if it is the caller who was given them, and may know."""
    visible = change.permissions.visible()
    return (visible,) if visible and change.extension == caller.id else None
