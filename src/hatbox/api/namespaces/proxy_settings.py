"""The namespace proxy.settings: the browser's own proxy, which only an extension with private windows may change.

Here nobody has those, so everybody gets the answers that Firefox has for such an extension. Proxies for requests are
chosen with proxy.onRequest.
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


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface."""
    return _ProxySettings(surface, services)


class _ProxySettings(Namespace):
    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        never: Event[Any] = Event("proxy.settings.onChange")
        super().__init__(surface, services.store, {"onChange": EventBinding(never, lambda *_: None)})

    def get(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        level = "not_controllable" if details.get("incognito") else "controllable_by_this_extension"
        return self._read("get", lambda _: {"levelOfControl": level, "value": dict(_NO_PROXY)})

    def set(self, _: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("set", _refuse)

    def clear(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("clear", _clear, details)


def _refuse(_: Any) -> None:
    raise ApiError("proxy.settings requires private browsing permission.")


def _clear(_: Any, details: Mapping[str, Any]) -> bool:
    scope = details.get("scope")
    if scope not in (None, "regular"):
        raise ApiError(f"Firefox does not support the {scope} settings scope.")
    return False
