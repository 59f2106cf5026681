"""The namespaces contextualidentities and contextualIdentities, with their three schemas."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.identities import changes, model
from hatbox.identities.model import ContextualIdentity
from hatbox.identities.palette import COLORS, ICONS
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the identities of a profile."""
    return _ContextualIdentities(schema, services)


class _ChangeInfo(NamedTuple):
    contextual_identity: ContextualIdentity


class _ContextualIdentities(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        identities = services.identities
        events = {
            "onCreated": EventBinding(identities.on_created, _change_args),
            "onUpdated": EventBinding(identities.on_updated, _change_args),
            "onRemoved": EventBinding(identities.on_removed, _change_args),
        }
        super().__init__(schema, services.store, events)

    def get(self, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._read_single_statement("get", model.get, cookie_store_id)

    def query(self, details: Mapping[str, str | None]) -> asyncio.Future[Any]:
        return self._read_single_statement("query", model.query, details["name"])

    def create(self, details: Mapping[str, str]) -> asyncio.Future[Any]:
        return self._write("create", changes.create, details["name"], details["color"], details["icon"])

    def update(self, cookie_store_id: str, details: Mapping[str, str | None]) -> asyncio.Future[Any]:
        changed = details["name"], details["color"], details["icon"]
        return self._write("update", changes.update, cookie_store_id, *changed)

    def move(self, cookie_store_ids: str | Sequence[str], position: int) -> asyncio.Future[Any]:
        ids = [cookie_store_ids] if isinstance(cookie_store_ids, str) else cookie_store_ids
        return self._write("move", changes.move, ids, position)

    def remove(self, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._write("remove", changes.remove, cookie_store_id)

    def hide(self, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._write("hide", changes.hide, cookie_store_id)

    def show(self, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._write("show", changes.show, cookie_store_id)

    def get_supported_colors(self) -> asyncio.Future[Any]:
        return self._read_single_statement("getSupportedColors", lambda _: COLORS)

    def get_supported_icons(self) -> asyncio.Future[Any]:
        return self._read_single_statement("getSupportedIcons", lambda _: ICONS)


def _change_args(_: Caller, identity: ContextualIdentity) -> tuple[_ChangeInfo]:
    return (_ChangeInfo(identity),)
