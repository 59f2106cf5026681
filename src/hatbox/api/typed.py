"""The types of `browser` for type checkers. Nothing here runs; a test holds it against the schemas."""

# ruff: noqa: N802, N803, N815, D102 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, TypeVar, overload

__all__ = ["ContextualIdentitiesNamespace", "ContextualIdentityDict", "CookieDict", "CookiesNamespace"]

Payload = TypeVar("Payload", covariant=True)


class ContextualIdentityDict(TypedDict):
    """An identity as a script sees it; `iconUrl` and `colorCode` are on Firefox's surface only."""

    name: str
    icon: str
    iconUrl: NotRequired[str]
    color: str
    colorCode: NotRequired[str]
    cookieStoreId: str


class ColorDict(TypedDict):
    """A color of the palette."""

    color: str
    colorCode: str


class IconDict(TypedDict):
    """An icon of the palette."""

    icon: str
    iconUrl: str


class ChangeInfo(TypedDict):
    """What a listener is told."""

    contextualIdentity: ContextualIdentityDict


class QueryDetails(TypedDict, total=False):
    """What query filters by."""

    name: str | None


class CreateDetails(TypedDict):
    """What create needs."""

    name: str
    color: str
    icon: str


class UpdateDetails(TypedDict, total=False):
    """What update may change."""

    name: str | None
    color: str | None
    icon: str | None


class ScriptEventType(Protocol[Payload]):
    """An event of a namespace."""

    def addListener(self, listener: Callable[[Payload], Any], /) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[Payload], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[Payload], Any], /) -> bool:
        """Whether a function is registered."""
        ...


class ContextualIdentitiesNamespace(Protocol):
    """`browser.contextualIdentities`, all surfaces in one: A and B have fewer members, and four fields only."""

    onCreated: ScriptEventType[ChangeInfo]
    onUpdated: ScriptEventType[ChangeInfo]
    onRemoved: ScriptEventType[ChangeInfo]

    @overload
    def get(self, cookieStoreId: str) -> Awaitable[ContextualIdentityDict]: ...
    @overload
    def get(self, *, cookiestoreid: str) -> Awaitable[ContextualIdentityDict]: ...
    def query(self, details: QueryDetails) -> Awaitable[list[ContextualIdentityDict]]: ...
    @overload
    def getSupportedColors(self, callback: None = None) -> Awaitable[list[ColorDict]]: ...
    @overload
    def getSupportedColors(self, callback: Callable[[list[ColorDict]], Any]) -> None: ...
    @overload
    def getSupportedIcons(self, callback: None = None) -> Awaitable[list[IconDict]]: ...
    @overload
    def getSupportedIcons(self, callback: Callable[[list[IconDict]], Any]) -> None: ...
    def create(self, details: CreateDetails) -> Awaitable[ContextualIdentityDict]: ...
    def update(self, cookieStoreId: str, details: UpdateDetails) -> Awaitable[ContextualIdentityDict]: ...
    def move(self, cookieStoreIds: str | Sequence[str], position: int) -> Awaitable[None]: ...
    def remove(self, cookieStoreId: str) -> Awaitable[ContextualIdentityDict]: ...
    @overload
    def hide(self, cookieStoreId: str) -> Awaitable[None]: ...
    @overload
    def hide(self, *, cookiestoreid: str) -> Awaitable[None]: ...
    @overload
    def show(self, cookieStoreId: str) -> Awaitable[None]: ...
    @overload
    def show(self, *, cookiestoreid: str) -> Awaitable[None]: ...


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
