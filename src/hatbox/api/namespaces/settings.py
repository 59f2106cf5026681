"""Namespaces with settings of the browser (privacy, browserSettings), and each of their settings (types.Setting).

A setting can be read, and nothing can set it: what has no effect here must not look as if it had one. Firefox has the
same answers for settings that extensions cannot control. The values are in the schemas.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.schema import NamespaceSchema
from hatbox.schema.loader import read

__all__ = ["implement"]

Details: TypeAlias = Mapping[str, Any]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement a setting, or a namespace that has only enumerations beside its settings."""
    return _Setting(schema, services) if schema.functions else Namespace(schema, services.store, {})


class _Setting(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        described = read(schema.file)
        self._value = described.get("value")
        self._rejection: str | None = described.get("rejects")
        on_change: Event[Any] = Event(f"{schema.namespace}.onChange")
        super().__init__(schema, services.store, {"onChange": EventBinding(on_change, lambda *_: None)})

    def get(self, _: Details) -> asyncio.Future[Any]:
        return self._read("get", lambda _: self._get())

    def set(self, details: Details) -> asyncio.Future[Any]:
        return self._read("set", lambda _: self._refuse(details))

    def clear(self, details: Details) -> asyncio.Future[Any]:
        return self._read("clear", lambda _: self._refuse(details))

    def _get(self) -> dict[str, Any]:
        self._reject()
        return {"levelOfControl": "not_controllable", "value": self._value}

    def _refuse(self, details: Details) -> bool:
        self._reject()
        scope = details["scope"]
        if scope not in (None, "regular"):
            raise ApiError(f"Firefox does not support the {scope} settings scope.")
        return False

    def _reject(self) -> None:
        if self._rejection is not None:
            raise ApiError(self._rejection)
