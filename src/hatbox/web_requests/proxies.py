"""Parses the results of proxy.onRequest listeners. Error messages match Firefox."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.javascript.text import stringify
from hatbox.web_requests.request_model import ProxyInfo

__all__ = ["DIRECT", "is_loopback", "read_proxies"]

DIRECT: Final = ProxyInfo("direct")

_TYPES: Final = {
    "DIRECT": "direct",
    "HTTPS": "https",
    "PROXY": "http",
    "HTTP": "http",
    "SOCKS": "socks",
    "SOCKS4": "socks4",
    "MASQUE": "masque",
}
_HIGHEST_PORT: Final = 65535


def read_proxies(answer: Any, before: tuple[ProxyInfo, ...] | None) -> tuple[ProxyInfo, ...] | None:
    """The proxies to try in order; None without a result. Raises ApiError if it is invalid.

    `before` is what listeners that were asked earlier have said: it follows those of a list, and takes the place of
    `direct`.
    """
    if not isinstance(answer, (Mapping, list, tuple)):
        raise ApiError("ProxyInfoData: proxyData must be an object or array of objects")
    proxies: list[ProxyInfo] = []
    for each in [answer] if isinstance(answer, Mapping) else answer:
        if each is None:
            return tuple(proxies) or (DIRECT,)
        proxy = _read(each if isinstance(each, Mapping) else {})
        if proxy.type == "direct":
            return (*proxies, *(before or (DIRECT,)))
        proxies.append(proxy)
    return (*proxies, *(before or ())) if proxies else before


def is_loopback(host: str) -> bool:
    """Whether a host is this machine. As in Firefox, its requests use no proxy."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _read(data: Mapping[str, Any]) -> ProxyInfo:
    kind = data.get("type")
    if not isinstance(kind, str) or kind.upper() not in _TYPES:
        raise _wrong(f"Invalid proxy server type: {_shown(data, 'type')}")
    kind = _TYPES[kind.upper()]
    if kind == "direct":
        return DIRECT
    proxy = ProxyInfo(
        kind,
        _host(data),
        _port(data),
        _text(data, "username", "proxy server username") or "",
        _text(data, "password", "proxy server password") or "",
        _dns(data, kind),
        _failover_timeout(data),
        _text(data, "proxyAuthorizationHeader", "proxy server authorization header"),
        _text(data, "connectionIsolationKey", "proxy connection isolation key"),
    )
    _check_template(data, kind)
    if proxy.authorization is not None and kind not in ("http", "https", "masque"):
        raise _wrong('ProxyAuthorizationHeader requires type "https" or "http" or "masque"')
    return proxy


def _host(data: Mapping[str, Any]) -> str:
    host = data.get("host")
    if not isinstance(host, str) or " " in host:
        raise _wrong(f"Invalid proxy server host: {_shown(data, 'host')}")
    if not host:
        raise _wrong("Proxy server host cannot be empty")
    return host


def _port(data: Mapping[str, Any]) -> int:
    try:
        port = int(data.get("port"))  # type: ignore[arg-type]  # checked below
    except (TypeError, ValueError):
        raise _wrong('Invalid proxy server port: "NaN"') from None
    if not 1 <= port <= _HIGHEST_PORT:
        raise _wrong(f"Proxy server port {port} outside range 1 to 65535")
    return port


def _text(data: Mapping[str, Any], name: str, called: str) -> str | None:
    text = data.get(name)
    if text is not None and not isinstance(text, str):
        raise _wrong(f"Invalid {called}: {_shown(data, name)}")
    return text


def _check_template(data: Mapping[str, Any], kind: str) -> None:
    """The members that only a MASQUE proxy has."""
    template = data.get("masqueTemplate")
    if kind != "masque" and template is not None:
        raise _wrong('masqueTemplate can only be used for "masque" proxies')
    if kind == "masque" and not isinstance(template, str):
        raise _wrong(f"Invalid proxy masque template: {_shown(data, 'masqueTemplate')}")


def _dns(data: Mapping[str, Any], kind: str) -> bool:
    through = data.get("proxyDNS")
    if through is not None and not isinstance(through, bool):
        raise _wrong(f"Invalid proxyDNS value: {_shown(data, 'proxyDNS')}")
    if through and kind not in ("socks", "socks4"):
        raise _wrong("proxyDNS can only be true for SOCKS proxy servers")
    return bool(through)


def _failover_timeout(data: Mapping[str, Any]) -> int:
    seconds = data.get("failoverTimeout")
    if seconds is None:
        return ProxyInfo("direct").failover_timeout
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 1:
        raise _wrong(f"Invalid failover timeout: {_shown(data, 'failoverTimeout')}")
    return seconds


def _shown(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "undefined")
    return f'"{value}"' if isinstance(value, str) else f'"{stringify(value)}"'


def _wrong(what: str) -> ApiError:
    return ApiError(f"ProxyInfoData: {what}")
