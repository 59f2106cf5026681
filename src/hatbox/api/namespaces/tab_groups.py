"""The namespace tabGroups. Tabs are added with tabs.group. Error messages match Firefox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.tab_functions import resolve_window_id
from hatbox.api.namespaces.tabs.tab_strip_functions import find_group, window_of_argument
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.tabs.grouping import move_group, update_group
from hatbox.tabs.tab_groups import GroupRemoval, TabGroup, find_groups
from hatbox.tabs.windows import get_window
from hatbox.urls.globs import glob

__all__ = ["implement"]

Details: TypeAlias = Mapping[str, Any]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the tab groups of a profile."""
    return _TabGroups(schema, services)


class _GroupRemoveInfo(NamedTuple):
    is_window_closing: bool


class _TabGroups(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        tabs = services.tabs
        events = {
            "onCreated": EventBinding(tabs.on_group_created, _group_args),
            "onUpdated": EventBinding(tabs.on_group_updated, _group_args),
            "onMoved": EventBinding(tabs.on_group_moved, _group_args),
            "onRemoved": EventBinding(tabs.on_group_removed, _removal_args),
        }
        super().__init__(schema, services.store, events)

    def get(self, group_id: int) -> asyncio.Future[Any]:
        return self._read("get", find_group, group_id)

    def query(self, details: Details) -> asyncio.Future[Any]:
        return self._read("query", _query, details)

    def update(self, group_id: int, details: Details) -> asyncio.Future[Any]:
        return self._write("update", _update, group_id, details)

    def move(self, group_id: int, details: Details) -> asyncio.Future[Any]:
        return self._write("move", _move, group_id, details)


def _group_args(_: Caller, group: TabGroup) -> tuple[TabGroup]:
    return (group,)


def _removal_args(_: Caller, removal: GroupRemoval) -> tuple[TabGroup, _GroupRemoveInfo]:
    return removal.group, _GroupRemoveInfo(removal.window_closing)


def _query(transaction: Transaction, details: Details) -> list[TabGroup]:
    title = None if details["title"] is None else glob(details["title"], question=True)
    window = resolve_window_id(transaction, details["windowId"])
    return [
        group
        for group in find_groups(transaction)
        if details["collapsed"] in (None, group.collapsed)
        and details["color"] in (None, group.color)
        and (title is None or title.matches(group.title))
        and (details["windowId"] is None or group.window_id == window)
    ]


def _update(transaction: Transaction, group_id: int, details: Details) -> TabGroup:
    group = find_group(transaction, group_id)
    return update_group(
        transaction, group, collapsed=details["collapsed"], color=details["color"], title=details["title"]
    )


def _move(transaction: Transaction, group_id: int, details: Details) -> TabGroup:
    group = find_group(transaction, group_id)
    window = group.window_id
    if details["windowId"] is not None:
        window = window_of_argument(transaction, details["windowId"])
        if get_window(transaction, window).kind != "normal":
            raise ApiError("Groups can only be moved to normal windows.")
    return move_group(transaction, group, window, details["index"])
