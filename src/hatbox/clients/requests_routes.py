"""The adapters by which a requests.Session sends the requests of an identity with a proxy setting.

One adapter for each mounted one, for the current proxy. requests reads proxies of the environment in the session, above
the adapters: what it has found is replaced here.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3.exceptions import NewConnectionError

from hatbox.clients.setting_headers import proxy_authorization
from hatbox.errors import MissingExtra, SettingNotSupported
from hatbox.identities.proxy_url import parse_proxy

__all__ = ["RequestsRoutes"]

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
        self._proxies: dict[str, str] = {}
        self._socks = ""
        proxy = parse_proxy(setting)
        if proxy is not None and proxy.is_socks:
            _require_socks()
            server = proxy._replace(scheme=_REMOTE_DNS).text
            self._socks = proxy.address
        elif proxy is not None:
            self._authorization = proxy_authorization(proxy)
            server = proxy.server
        if proxy is not None:
            self._proxies = {"http": server, "https": server}

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        del arguments  # the session passes all of them by name
        request.headers.pop("Proxy-Authorization", None)  # requests has set it for a proxy of the environment
        try:
            return super().send(request, **{**options, "proxies": self._proxies})
        except requests.ConnectionError as error:
            reason = getattr(error.args[0], "reason", None)
            if not self._socks or not isinstance(reason, NewConnectionError):
                raise
            # urllib3 names the site: all its connections are made by PySocks.
            raise requests.exceptions.ProxyError(f"proxy {self._socks}: {reason}", request=request) from error

    def proxy_headers(self, proxy: str) -> dict[str, str]:  # noqa: ARG002 - part of the signature
        return {} if self._authorization is None else {"Proxy-Authorization": self._authorization}


def _require_socks() -> None:
    try:
        import socks  # type: ignore[import-untyped]  # noqa: F401 - urllib3 imports it when the first request is sent
    except ModuleNotFoundError as error:
        raise MissingExtra("socks", "PySocks, by which requests uses SOCKS proxies,") from error
