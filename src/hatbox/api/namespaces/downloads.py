"""The namespace downloads, on the downloads of this process. Error messages match Firefox."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_arguments import resolve_cookie_store
from hatbox.api.services import Services
from hatbox.downloads.download_item import DownloadItem, DownloadRequest
from hatbox.downloads.download_path import check_file_name
from hatbox.errors import ApiError
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.schema import NamespaceSchema
from hatbox.urls.url import parse_url

__all__ = ["implement"]

_FORBIDDEN_HEADERS: Final = frozenset(
    {"accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method"}
    | {"connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect", "host", "keep-alive", "origin"}
    | {"te", "trailer", "transfer-encoding", "upgrade", "via"}
)
_FORBIDDEN_PREFIXES: Final = ("proxy-", "sec-")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE: Final = re.compile(r"[\0\r\n]")


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the downloads of this process."""
    return _Downloads(schema, services)


class _Downloads(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        downloads = self._downloads = services.downloads
        events = {
            "onCreated": EventBinding(downloads.on_created, _created_args),
            "onChanged": EventBinding(downloads.on_changed, lambda _, delta: (delta,)),
            "onErased": EventBinding(downloads.on_erased, lambda _, number: (number,)),
        }
        super().__init__(schema, services.store, events)

    def download(self, caller: ExtensionCaller, options: Mapping[str, Any]) -> asyncio.Future[int]:
        return asyncio.ensure_future(self._download(caller, options))

    async def _download(self, caller: ExtensionCaller, options: Mapping[str, Any]) -> int:
        name = None if options["filename"] is None else check_file_name(options["filename"])
        if options["incognito"]:
            raise ApiError("private browsing access not allowed")
        if options["conflictAction"] == "prompt":
            raise ApiError("conflictAction prompt not yet implemented")
        request = DownloadRequest(
            _checked_url(options["url"]),
            await self._cookie_store(caller, options["cookieStoreId"]),
            options["method"] or "GET",
            tuple(_checked_header(each) for each in options["headers"] or ()),
            options["body"],
            bool(options["allowHttpErrors"]),
        )
        return await self._downloads.start(
            request,
            name,
            overwrite=options["conflictAction"] == "overwrite",
            extension_id=caller.extension_id,
            extension_name=str(caller.manifest.get("name", "")),
        )

    async def _cookie_store(self, caller: ExtensionCaller, cookie_store_id: str | None) -> str:
        access = tab_access(caller)
        named = await self._store.read(lambda transaction: resolve_cookie_store(transaction, cookie_store_id, access))
        return named or DEFAULT_COOKIE_STORE_ID

    def search(self, _: ExtensionCaller, query: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._search(query))

    async def _search(self, query: Mapping[str, Any]) -> Any:
        return self._downloads.search(query)

    def pause(self, _: ExtensionCaller, number: int) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._downloads.pause(number))

    def resume(self, _: ExtensionCaller, number: int) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._downloads.resume(number))

    def cancel(self, _: ExtensionCaller, number: int) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._downloads.cancel(number))

    def erase(self, _: ExtensionCaller, query: Mapping[str, Any]) -> asyncio.Future[list[int]]:
        return asyncio.ensure_future(self._downloads.erase(query))

    def remove_file(self, _: ExtensionCaller, number: int) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._downloads.remove_file(number))


def _created_args(_: ExtensionCaller, item: DownloadItem) -> tuple[Any]:
    return (item.view(),)


def _checked_url(url: str) -> str:
    parsed = parse_url(url)
    if parsed is None or parsed.scheme not in ("http", "https"):
        raise ApiError(f"Only http and https URLs can be downloaded: {url[:200]}")
    return parsed.text


def _checked_header(header: Mapping[str, str]) -> tuple[str, str]:
    name, value = header["name"], header["value"]
    if name.lower() in _FORBIDDEN_HEADERS or name.lower().startswith(_FORBIDDEN_PREFIXES):
        raise ApiError("Forbidden request header name")
    if _HEADER_NAME.fullmatch(name) is None or _BAD_VALUE.search(value) or not value.isascii():
        raise ApiError(f"Invalid request header: {name[:100]}")
    return name, value
