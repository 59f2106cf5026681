"""The namespace proxy.settings: the browser's own proxy, which needs access to private windows.

Private windows are not supported, so results match Firefox for an extension without that access. Extensions choose
proxies for requests with proxy.onRequest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]

_NO_PROXY: Final[Mapping[str, Any]] = {
    "proxyType": "none",
    "autoConfigUrl": "",
    "autoLogin": False,
    "proxyDNS": True,
    "httpProxyAll": False,
    "socksVersion": 5,
    "passthrough": "",
    "http": "",
    "ssl": "",
    "socks": "",
}


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace."""
    return _ProxySettings(schema, services)


class _ProxySettings(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        on_change: Event[Any] = Event("proxy.settings.onChange")
        super().__init__(schema, services.store, {"onChange": EventBinding(on_change, lambda *_: None)})

    def get(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        level = "not_controllable" if details.get("incognito") else "controllable_by_this_extension"
        return self._read("get", lambda _: {"levelOfControl": level, "value": dict(_NO_PROXY)})

    def set(self, _: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("set", _reject)

    def clear(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("clear", _clear, details)


def _reject(_: Any) -> None:
    raise ApiError("proxy.settings requires private browsing permission.")


def _clear(_: Any, details: Mapping[str, Any]) -> bool:
    scope = details.get("scope")
    if scope not in (None, "regular"):
        raise ApiError(f"Firefox does not support the {scope} settings scope.")
    return False
