"""The namespace permissions. The rules are in `extension_data/extension_permissions.py`."""

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


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the granted permissions of a profile."""
    return _Permissions(schema, services)


class _Permissions(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changes, decode = ChangeEvents(services.store, "permissions"), msgspec.json.Decoder(PermissionsChanged).decode
        events = {
            "onAdded": EventBinding(changes.event("onAdded", ADDED, decode), _permissions_args),
            "onRemoved": EventBinding(changes.event("onRemoved", REMOVED, decode), _permissions_args),
        }
        super().__init__(schema, services.store, events)

    def get_all(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAll", lambda _: caller.grants.get_all())

    def contains(self, caller: ExtensionCaller, requested: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        return self._read("contains", lambda _: caller.grants.contains(_permissions(requested)))

    def request(self, caller: ExtensionCaller, requested: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        # User input is checked when the call is made, not when the task starts.
        return asyncio.ensure_future(
            self._request(caller, _permissions(requested), user_input=caller.is_handling_user_input)
        )

    async def _request(self, caller: ExtensionCaller, requested: Permissions, *, user_input: bool) -> bool:
        if not user_input:
            raise ApiError("permissions.request may only be called from a user input handler")
        caller.grants.check_request(requested)
        missing = caller.grants.missing(requested)
        if not missing:
            return True
        if not await caller.on_permission_request(missing):
            return False
        await self._store.write(lambda transaction: grant(transaction, caller.id, missing))
        caller.grants.grant(missing)  # a process that runs the extension has observed the change already
        return True

    def remove(self, caller: ExtensionCaller, removed: Mapping[str, Sequence[str]]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._remove(caller, _permissions(removed)))

    async def _remove(self, caller: ExtensionCaller, removed: Permissions) -> bool:
        await self._store.write(lambda transaction: revoke(transaction, caller.id, removed))
        caller.grants.remove(removed)
        return True


def _permissions(argument: Mapping[str, Sequence[str]]) -> Permissions:
    return Permissions(tuple(argument["permissions"]), tuple(argument["origins"]), tuple(argument["data_collection"]))


def _permissions_args(caller: Caller, change: PermissionsChanged) -> tuple[Permissions] | None:
    """(permissions) for the extension whose visible permissions changed."""
    visible = change.permissions.visible()
    return (visible,) if visible and change.extension == caller.id else None
