"""The types of cookies."""

# ruff: noqa: N815 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

from hatbox.api.typed.events import ScriptEventType

__all__ = [
    "AllCookiesDetails",
    "Cause",
    "CookieChangeInfo",
    "CookieDict",
    "CookieStoreDetails",
    "CookieStoreDict",
    "CookiesNamespace",
    "OnChangedCauseType",
    "OneCookieDetails",
    "PartitionKeyDict",
    "RemovedCookieDict",
    "SameSite",
    "SameSiteStatusType",
    "SetCookieDetails",
]


SameSite: TypeAlias = Literal["unspecified", "no_restriction", "lax", "strict"]


Cause: TypeAlias = Literal["evicted", "expired", "explicit", "expired_overwrite", "overwrite"]


class PartitionKeyDict(TypedDict, total=False):
    """The partition of a cookie."""

    topLevelSite: str | None
    hasCrossSiteAncestor: bool | None


class CookieDict(TypedDict):
    """A cookie as a script sees it; `expirationDate` is not there for a session cookie."""

    name: str
    value: str
    domain: str
    hostOnly: bool
    path: str
    secure: bool
    httpOnly: bool
    sameSite: SameSite
    session: bool
    firstPartyDomain: str
    partitionKey: PartitionKeyDict | None
    expirationDate: NotRequired[float]
    storeId: str


class CookieStoreDict(TypedDict):
    """A cookie store."""

    id: str
    tabIds: list[int]
    incognito: bool


class RemovedCookieDict(TypedDict):
    """What `remove` has removed."""

    url: str
    name: str
    storeId: str
    firstPartyDomain: str
    partitionKey: PartitionKeyDict | None


class CookieChangeInfo(TypedDict):
    """What a listener is told."""

    removed: bool
    cookie: CookieDict
    cause: Cause


class CookieStoreDetails(TypedDict, total=False):
    """Where to look for cookies."""

    storeId: str | None
    firstPartyDomain: str | None
    partitionKey: PartitionKeyDict | None


class OneCookieDetails(CookieStoreDetails):
    """Which cookie to get or to remove."""

    url: str
    name: str


class AllCookiesDetails(CookieStoreDetails, total=False):
    """What getAll filters by."""

    url: str | None
    name: str | None
    domain: str | None
    path: str | None
    secure: bool | None
    session: bool | None


class SetCookieDetails(CookieStoreDetails):
    """What set may be told."""

    url: str
    name: NotRequired[str | None]
    value: NotRequired[str | None]
    domain: NotRequired[str | None]
    path: NotRequired[str | None]
    secure: NotRequired[bool | None]
    httpOnly: NotRequired[bool | None]
    sameSite: NotRequired[SameSite | None]
    expirationDate: NotRequired[float | None]


class SameSiteStatusType(Protocol):
    """The values of `sameSite`."""

    UNSPECIFIED: Literal["unspecified"]
    NO_RESTRICTION: Literal["no_restriction"]
    LAX: Literal["lax"]
    STRICT: Literal["strict"]


class OnChangedCauseType(Protocol):
    """The values of `cause`."""

    EVICTED: Literal["evicted"]
    EXPIRED: Literal["expired"]
    EXPLICIT: Literal["explicit"]
    EXPIRED_OVERWRITE: Literal["expired_overwrite"]
    OVERWRITE: Literal["overwrite"]


class CookiesNamespace(Protocol):
    """`browser.cookies`."""

    onChanged: ScriptEventType[CookieChangeInfo]
    SameSiteStatus: SameSiteStatusType
    OnChangedCause: OnChangedCauseType

    @overload
    def get(self, details: OneCookieDetails, callback: None = None) -> Awaitable[CookieDict | None]: ...
    @overload
    def get(self, details: OneCookieDetails, callback: Callable[..., Any]) -> None: ...
    @overload
    def getAll(self, details: AllCookiesDetails, callback: None = None) -> Awaitable[list[CookieDict]]: ...
    @overload
    def getAll(self, details: AllCookiesDetails, callback: Callable[..., Any]) -> None: ...
    @overload
    def set(self, details: SetCookieDetails, callback: None = None) -> Awaitable[CookieDict | None]: ...
    @overload
    def set(self, details: SetCookieDetails, callback: Callable[..., Any]) -> None: ...
    @overload
    def remove(self, details: OneCookieDetails, callback: None = None) -> Awaitable[RemovedCookieDict | None]: ...
    @overload
    def remove(self, details: OneCookieDetails, callback: Callable[..., Any]) -> None: ...
    @overload
    def getAllCookieStores(self, callback: None = None) -> Awaitable[list[CookieStoreDict]]: ...
    @overload
    def getAllCookieStores(self, callback: Callable[..., Any]) -> None: ...
