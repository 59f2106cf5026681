"""The adapters by which a requests.Session sends the requests of an identity with a proxy setting.

One adapter for each mounted one, for the current proxy. requests reads proxies of the environment in the session, above
the adapters: what it has found is replaced here.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import ConnectTimeout, ProxyError, SSLError
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from hatbox.clients.setting_headers import proxy_authorization
from hatbox.errors import MissingExtra, SettingNotSupported
from hatbox.identity.proxy_url import parse_proxy

__all__ = ["RequestsRoutes", "proxy_errors"]

_REMOTE_DNS: Final = "socks5h"  # with socks5://, urllib3 would resolve host names here


class RequestsRoutes:
    """The adapters of one session. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._proxy = ""
        self._adapters: dict[int, _ProxyAdapter] = {}

    def adapter(self, mounted: BaseAdapter, proxy: str) -> BaseAdapter:
        """The adapter to send with, in place of a mounted one. Raises if the proxy cannot be used."""
        if type(mounted) is not HTTPAdapter:
            raise SettingNotSupported(
                f"the session has an adapter of the type {type(mounted).__name__}, which may ignore the proxy of the "
                "identity. Mount a requests.adapters.HTTPAdapter, or unset the proxy: "
                "hatbox settings IDENTITY --unset proxy."
            )
        with self._lock:
            if proxy != self._proxy:
                self._clear()
                self._proxy = proxy
            found = self._adapters.get(id(mounted))
            if found is None:
                found = self._adapters[id(mounted)] = _ProxyAdapter(mounted, proxy)
            return found

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        adapters, self._adapters = self._adapters, {}
        for adapter in adapters.values():
            adapter.close()  # responses that are still read close their connections themselves


class _ProxyAdapter(HTTPAdapter):
    def __init__(self, mounted: HTTPAdapter, setting: str) -> None:
        options: Any = mounted
        super().__init__(options._pool_connections, options._pool_maxsize, options.max_retries, options._pool_block)
        self._mounted = mounted  # so that no other adapter gets its id
        self._authorization: str | None = None
        self.proxies: dict[str, str] = {}
        proxy = parse_proxy(setting)
        if proxy is not None and proxy.is_socks:
            _require_socks()
            server = proxy._replace(scheme=_REMOTE_DNS).text
        elif proxy is not None:
            self._authorization = proxy_authorization(proxy)
            server = proxy.server
        if proxy is not None:
            self.proxies = {"http": server, "https": server}

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        del arguments  # the session passes all of them by name
        request.headers.pop("Proxy-Authorization", None)  # requests has set it for a proxy of the environment
        return super().send(request, **{**options, "proxies": self.proxies})

    def proxy_headers(self, proxy: str) -> dict[str, str]:  # noqa: ARG002 - part of the signature
        return {} if self._authorization is None else {"Proxy-Authorization": self._authorization}


class _ProxyTimeout(ProxyError, ConnectTimeout):
    """The connection to the proxy was not made in time."""


@contextlib.contextmanager
def proxy_errors(request: requests.PreparedRequest, adapter: BaseAdapter, options: Mapping[str, Any]) -> Iterator[None]:
    """Name the proxy in its errors: for some, urllib3 names the site only. TLS is that of the site."""
    try:
        yield
    except SSLError:
        raise
    except requests.ConnectionError as error:
        proxies = adapter.proxies if isinstance(adapter, _ProxyAdapter) else options.get("proxies")
        server = requests.utils.select_proxy(request.url or "", proxies)
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if not server or not isinstance(reason, (urllib3.exceptions.ProxyError, ConnectTimeoutError)):
            raise  # all connections are made to the proxy
        address = urlsplit(requests.utils.prepend_scheme_if_needed(server, "http")).netloc.rpartition("@")[2]
        original = getattr(reason, "original_error", reason)
        if isinstance(original, ConnectTimeoutError) and not isinstance(original, NewConnectionError):
            raise _ProxyTimeout(f"proxy {address}: connection timed out", request=request) from error
        raise ProxyError(f"proxy {address}: {original}", request=request) from error


def _require_socks() -> None:
    try:
        import socks  # type: ignore[import-untyped]  # noqa: F401 - urllib3 imports it when the first request is sent
    except ModuleNotFoundError as error:
        raise MissingExtra("socks", "PySocks, by which requests uses SOCKS proxies,") from error
