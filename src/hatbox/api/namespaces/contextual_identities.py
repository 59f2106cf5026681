"""The namespaces contextualidentities and contextualIdentities, with their three schemas."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.identities import changes, trash_rows
from hatbox.identity import model
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.palette import COLORS, ICONS
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the identities of a profile."""
    return _ContextualIdentities(schema, services)


class _ChangeInfo(NamedTuple):
    contextual_identity: ContextualIdentity


class _ContextualIdentities(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        identities = services.identities
        events = {
            "onCreated": EventBinding(identities.on_created, _change_args),
            "onUpdated": EventBinding(identities.on_updated, _change_args),
            "onRemoved": EventBinding(identities.on_removed, _change_args),
        }
        super().__init__(schema, services.store, events)
        self._log_scrubs = identities.log_scrubs

    def get(self, _: Caller, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._read_single_statement("get", model.get, cookie_store_id)

    def query(self, _: Caller, details: Mapping[str, str | None]) -> asyncio.Future[Any]:
        return self._read_single_statement("query", model.query, details["name"])

    def create(self, caller: Caller, details: Mapping[str, str]) -> asyncio.Future[Any]:
        values = details["name"], details["color"], details["icon"]
        if isinstance(caller, ExtensionCaller):
            return self._write("create", _create_for_extension, caller.id, *values)
        return self._write("create", changes.create, *values)

    def update(self, _: Caller, cookie_store_id: str, details: Mapping[str, str | None]) -> asyncio.Future[Any]:
        changed = details["name"], details["color"], details["icon"]
        return self._write("update", changes.update, cookie_store_id, *changed)

    def move(self, _: Caller, cookie_store_ids: str | Sequence[str], position: int) -> asyncio.Future[Any]:
        ids = [cookie_store_ids] if isinstance(cookie_store_ids, str) else cookie_store_ids
        return self._write("move", changes.move, ids, position)

    def remove(self, caller: Caller, cookie_store_id: str) -> asyncio.Future[Any]:
        extension = caller.id if isinstance(caller, ExtensionCaller) else None
        return self._log_scrubs.after(self._write("remove", _remove, cookie_store_id, extension))

    def hide(self, _: Caller, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._write("hide", changes.hide, cookie_store_id)

    def show(self, _: Caller, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._write("show", changes.show, cookie_store_id)

    def get_supported_colors(self, _: Caller) -> asyncio.Future[Any]:
        return self._read_single_statement("getSupportedColors", lambda _: COLORS)

    def get_supported_icons(self, _: Caller) -> asyncio.Future[Any]:
        return self._read_single_statement("getSupportedIcons", lambda _: ICONS)


def _create_for_extension(
    transaction: Transaction, extension: str, name: str, color: str, icon: str
) -> ContextualIdentity:
    identity = changes.create(transaction, name, color, icon)
    changes.write_maker(transaction, identity.cookie_store_id, extension)
    return identity


def _remove(transaction: Transaction, cookie_store_id: str, extension: str | None) -> ContextualIdentity:
    """Remove an identity, as Firefox does: also one that is too large for the trash, which is removed for ever."""
    return trash_rows.remove(transaction, cookie_store_id, extension=extension, require_trash=False)


def _change_args(_: Caller, identity: ContextualIdentity) -> tuple[_ChangeInfo]:
    return (_ChangeInfo(identity),)
