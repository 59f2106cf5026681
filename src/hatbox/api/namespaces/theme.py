"""The namespace theme: what a browser without a theme returns. Hatbox draws no user interface."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.tab_strip_functions import window_of_argument
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace."""
    return _Theme(schema, services)


class _Theme(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        on_updated: Event[Any] = Event("theme.onUpdated")
        super().__init__(schema, services.store, {"onUpdated": EventBinding(on_updated, lambda *_: None)})

    def get_current(self, window_id: int | None) -> asyncio.Future[Any]:
        return self._read("getCurrent", _current, window_id)


def _current(transaction: Transaction, window_id: int | None) -> dict[str, None]:
    if window_id is not None:
        window_of_argument(transaction, window_id)
    return {"colors": None, "images": None, "properties": None}
