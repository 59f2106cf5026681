"""The types of browsingData."""

# ruff: noqa: N803 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypedDict, overload

__all__ = [
    "BrowsingDataNamespace",
    "DataTypeSetDict",
    "OriginTypesDict",
    "RemovalOptionsDict",
]


class OriginTypesDict(TypedDict, total=False):
    """Kinds of origins."""

    unprotectedWeb: bool | None
    protectedWeb: bool | None
    extension: bool | None


class RemovalOptionsDict(TypedDict, total=False):
    """What is to be removed of each kind of data."""

    since: int | str | datetime.datetime | None
    hostnames: Sequence[str] | None
    cookieStoreId: str | None
    originTypes: OriginTypesDict | None


class DataTypeSetDict(TypedDict, total=False):
    """Kinds of data."""

    cache: bool | None
    cookies: bool | None
    downloads: bool | None
    formData: bool | None
    history: bool | None
    indexedDB: bool | None
    localStorage: bool | None
    serverBoundCertificates: bool | None
    passwords: bool | None
    pluginData: bool | None
    serviceWorkers: bool | None


class BrowsingDataNamespace(Protocol):
    """`browser.browsingData`."""

    @overload
    def settings(self, callback: None = None) -> Awaitable[dict[str, Any]]: ...
    @overload
    def settings(self, callback: Callable[..., Any]) -> None: ...
    @overload
    def remove(
        self, options: RemovalOptionsDict, dataToRemove: DataTypeSetDict, callback: None = None
    ) -> Awaitable[None]: ...
    @overload
    def remove(
        self, options: RemovalOptionsDict, dataToRemove: DataTypeSetDict, callback: Callable[..., Any]
    ) -> None: ...
    @overload
    def removeCache(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeCache(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removeCookies(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeCookies(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removeDownloads(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeDownloads(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removeFormData(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeFormData(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removeHistory(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeHistory(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removeLocalStorage(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removeLocalStorage(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removePasswords(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removePasswords(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
    @overload
    def removePluginData(self, options: RemovalOptionsDict, callback: None = None) -> Awaitable[None]: ...
    @overload
    def removePluginData(self, options: RemovalOptionsDict, callback: Callable[..., Any]) -> None: ...
