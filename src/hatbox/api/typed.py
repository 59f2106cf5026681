"""The types of `browser` for type checkers. Nothing here runs; a test holds it against the schemas."""

# ruff: noqa: N802, N803, N815, D102 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, TypeVar, overload

__all__ = [
    "BrowsingDataNamespace",
    "ContextualIdentitiesNamespace",
    "ContextualIdentityDict",
    "CookieDict",
    "CookiesNamespace",
    "ProxyNamespace",
    "RequestDetails",
    "TabDict",
    "TabsNamespace",
    "WebRequestNamespace",
    "WindowDict",
    "WindowsNamespace",
]

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


TabStatus: TypeAlias = Literal["loading", "complete"]
WindowType: TypeAlias = Literal["normal", "popup", "panel", "app", "devtools"]
WindowState: TypeAlias = Literal["normal", "minimized", "maximized", "fullscreen", "docked"]
UpdatePropertyName: TypeAlias = Literal[
    "attention",
    "audible",
    "autoDiscardable",
    "discarded",
    "favIconUrl",
    "groupId",
    "hidden",
    "isArticle",
    "mutedInfo",
    "pinned",
    "sharingState",
    "splitViewId",
    "status",
    "title",
    "url",
]


class MutedInfoDict(TypedDict):
    """Whether a tab is muted, and by whom."""

    muted: bool
    reason: NotRequired[str]
    extensionId: NotRequired[str]


class SharingStateDict(TypedDict):
    """What a tab shares."""

    camera: bool
    microphone: bool
    screen: str | None


class TabDict(TypedDict):
    """A tab as a script sees it; `url`, `title` and `favIconUrl` need a permission."""

    id: int
    index: int
    windowId: int
    highlighted: bool
    active: bool
    attention: bool
    pinned: bool
    status: TabStatus
    hidden: bool
    discarded: bool
    incognito: bool
    width: int
    height: int
    lastAccessed: int
    audible: bool
    autoDiscardable: bool
    mutedInfo: MutedInfoDict
    isArticle: bool | None
    isInReaderMode: bool | None
    sharingState: SharingStateDict
    successorTabId: int
    groupId: int
    splitViewId: int
    cookieStoreId: str
    openerTabId: NotRequired[int]
    url: NotRequired[str]
    title: NotRequired[str]
    favIconUrl: NotRequired[str]


class WindowDict(TypedDict):
    """A window as a script sees it; `title` is null without the permission to see it."""

    id: int
    focused: bool
    top: int
    left: int
    width: int
    height: int
    incognito: bool
    type: WindowType
    state: WindowState
    alwaysOnTop: bool
    title: str | None
    tabs: NotRequired[list[TabDict]]


class TabChangeInfo(TypedDict, total=False):
    """What has changed of a tab."""

    status: TabStatus
    url: str
    title: str
    favIconUrl: str | None
    pinned: bool
    hidden: bool
    mutedInfo: MutedInfoDict
    autoDiscardable: bool
    openerTabId: int


class MoveInfo(TypedDict):
    """How a tab moved within its window."""

    windowId: int
    fromIndex: int
    toIndex: int


class ActiveInfo(TypedDict):
    """Which tab has become active, and in the place of which."""

    tabId: int
    previousTabId: int | None
    windowId: int


class HighlightInfo(TypedDict):
    """Which tabs of a window are highlighted."""

    tabIds: list[int]
    windowId: int


class DetachInfo(TypedDict):
    """Where a tab was."""

    oldWindowId: int
    oldPosition: int


class AttachInfo(TypedDict):
    """Where a tab is now."""

    newWindowId: int
    newPosition: int


class RemoveInfo(TypedDict):
    """Which window a tab was in, and whether all of that was closed."""

    windowId: int
    isWindowClosing: bool


class UpdateFilterDict(TypedDict, total=False):
    """What a listener of onUpdated wants to hear of."""

    urls: Sequence[str] | None
    properties: Sequence[UpdatePropertyName] | None
    tabId: int | None
    windowId: int | None
    cookieStoreId: str | None


class CreateTabProperties(TypedDict, total=False):
    """What a new tab is to be."""

    windowId: int | None
    index: int | None
    url: str | None
    active: bool | None
    pinned: bool | None
    openerTabId: int | None
    cookieStoreId: str | None
    openInReaderMode: bool | None
    discarded: bool | None
    title: str | None
    muted: bool | None


class DuplicateProperties(TypedDict, total=False):
    """What becomes of a duplicate."""

    index: int | None
    active: bool | None


class TabQueryInfo(TypedDict, total=False):
    """What query filters by."""

    active: bool | None
    attention: bool | None
    pinned: bool | None
    audible: bool | None
    autoDiscardable: bool | None
    muted: bool | None
    highlighted: bool | None
    currentWindow: bool | None
    lastFocusedWindow: bool | None
    status: TabStatus | None
    discarded: bool | None
    hidden: bool | None
    title: str | None
    url: str | Sequence[str] | None
    windowId: int | None
    windowType: WindowType | None
    index: int | None
    cookieStoreId: str | Sequence[str] | None
    openerTabId: int | None
    groupId: int | None
    splitViewId: int | None
    screen: str | bool | None
    camera: bool | None
    microphone: bool | None


class UpdateTabProperties(TypedDict, total=False):
    """What update may change of a tab."""

    url: str | None
    active: bool | None
    autoDiscardable: bool | None
    highlighted: bool | None
    pinned: bool | None
    muted: bool | None
    openerTabId: int | None
    loadReplace: bool | None
    successorTabId: int | None


class MoveProperties(TypedDict):
    """Where tabs are to go."""

    windowId: NotRequired[int | None]
    index: int


class ReloadProperties(TypedDict, total=False):
    """How a page is to be loaded again."""

    bypassCache: bool | None


class GetWindowInfo(TypedDict, total=False):
    """Which windows, and how much of them."""

    populate: bool | None
    windowTypes: Sequence[WindowType] | None


class CreateWindowData(TypedDict, total=False):
    """What a new window is to be."""

    url: str | Sequence[str] | None
    tabId: int | None
    left: int | None
    top: int | None
    width: int | None
    height: int | None
    focused: bool | None
    incognito: bool | None
    type: Literal["normal", "popup", "panel", "detached_panel"] | None
    state: WindowState | None
    allowScriptsToClose: bool | None
    cookieStoreId: str | None
    titlePreface: str | None


class UpdateWindowInfo(TypedDict, total=False):
    """What update may change of a window."""

    left: int | None
    top: int | None
    width: int | None
    height: int | None
    focused: bool | None
    drawAttention: bool | None
    state: WindowState | None
    titlePreface: str | None


Extra = TypeVar("Extra", covariant=True)


class TabEventType(Protocol[Payload, Extra]):
    """An event of two arguments."""

    def addListener(self, listener: Callable[[Payload, Extra], Any], /) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[Payload, Extra], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[Payload, Extra], Any], /) -> bool:
        """Whether a function is registered."""
        ...


class TabUpdatedEventType(Protocol):
    """tabs.onUpdated, which can be told what to listen to."""

    def addListener(
        self, listener: Callable[[int, TabChangeInfo, TabDict], Any], wishes: UpdateFilterDict | None = None, /
    ) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[int, TabChangeInfo, TabDict], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[int, TabChangeInfo, TabDict], Any], /) -> bool:
        """Whether a function is registered."""
        ...


class MutedInfoReasonType(Protocol):
    """The values of `reason`."""

    USER: Literal["user"]
    CAPTURE: Literal["capture"]
    EXTENSION: Literal["extension"]


class TabStatusType(Protocol):
    """The values of `status`."""

    LOADING: Literal["loading"]
    COMPLETE: Literal["complete"]


class WindowTypeType(Protocol):
    """The values of a window's `type`."""

    NORMAL: Literal["normal"]
    POPUP: Literal["popup"]
    PANEL: Literal["panel"]
    APP: Literal["app"]
    DEVTOOLS: Literal["devtools"]


class UpdatePropertyNameType(Protocol):
    """What a listener of onUpdated can ask for."""

    ATTENTION: Literal["attention"]
    AUDIBLE: Literal["audible"]
    AUTODISCARDABLE: Literal["autoDiscardable"]
    DISCARDED: Literal["discarded"]
    FAVICONURL: Literal["favIconUrl"]
    GROUPID: Literal["groupId"]
    HIDDEN: Literal["hidden"]
    ISARTICLE: Literal["isArticle"]
    MUTEDINFO: Literal["mutedInfo"]
    PINNED: Literal["pinned"]
    SHARINGSTATE: Literal["sharingState"]
    SPLITVIEWID: Literal["splitViewId"]
    STATUS: Literal["status"]
    TITLE: Literal["title"]
    URL: Literal["url"]


class WindowStateType(Protocol):
    """The values of a window's `state`."""

    NORMAL: Literal["normal"]
    MINIMIZED: Literal["minimized"]
    MAXIMIZED: Literal["maximized"]
    FULLSCREEN: Literal["fullscreen"]
    DOCKED: Literal["docked"]


class CreateTypeType(Protocol):
    """The types that a new window can be asked to have."""

    NORMAL: Literal["normal"]
    POPUP: Literal["popup"]
    PANEL: Literal["panel"]
    DETACHED_PANEL: Literal["detached_panel"]


class PortEventType(Protocol):
    """An event of a port."""

    def addListener(self, listener: Callable[..., Any]) -> None: ...
    def removeListener(self, listener: Callable[..., Any]) -> None: ...
    def hasListener(self, listener: Callable[..., Any]) -> bool: ...


class PortType(Protocol):
    """One end of a port."""

    name: str
    error: Exception | None
    onMessage: PortEventType
    onDisconnect: PortEventType

    def postMessage(self, message: Any) -> None: ...
    def disconnect(self) -> None: ...
    async def receive(self) -> Any: ...


class MessageTarget(TypedDict, total=False):
    """Where in a tab a message goes."""

    frameId: int | None
    documentId: str | None


class TabConnectInfo(MessageTarget, total=False):
    """Where in a tab a port goes, and its name."""

    name: str | None


class TabsNamespace(Protocol):
    """`browser.tabs`; `hide` and `show` are there with the permission `tabHide`."""

    onCreated: ScriptEventType[TabDict]
    onUpdated: TabUpdatedEventType
    onMoved: TabEventType[int, MoveInfo]
    onActivated: ScriptEventType[ActiveInfo]
    onHighlighted: ScriptEventType[HighlightInfo]
    onDetached: TabEventType[int, DetachInfo]
    onAttached: TabEventType[int, AttachInfo]
    onRemoved: TabEventType[int, RemoveInfo]
    TAB_ID_NONE: Literal[-1]
    MutedInfoReason: MutedInfoReasonType
    TabStatus: TabStatusType
    WindowType: WindowTypeType
    UpdatePropertyName: UpdatePropertyNameType

    def connect(self, tabId: int, connectInfo: TabConnectInfo | None = None) -> PortType: ...
    @overload
    def sendMessage(
        self, tabId: int, message: Any, options: MessageTarget | None = None, responseCallback: None = None
    ) -> Awaitable[Any]: ...
    @overload
    def sendMessage(
        self, tabId: int, message: Any, options: MessageTarget | None, responseCallback: Callable[..., Any]
    ) -> None: ...
    @overload
    def get(self, tabId: int, callback: None = None) -> Awaitable[TabDict]: ...
    @overload
    def get(self, tabId: int, callback: Callable[..., Any]) -> None: ...
    @overload
    def create(self, createProperties: CreateTabProperties, callback: None = None) -> Awaitable[TabDict]: ...
    @overload
    def create(self, createProperties: CreateTabProperties, callback: Callable[..., Any]) -> None: ...
    @overload
    def duplicate(
        self, tabId: int, duplicateProperties: DuplicateProperties | None = None, callback: None = None
    ) -> Awaitable[TabDict]: ...
    @overload
    def duplicate(
        self, tabId: int, duplicateProperties: DuplicateProperties | None, callback: Callable[..., Any]
    ) -> None: ...
    @overload
    def query(self, queryInfo: TabQueryInfo, callback: None = None) -> Awaitable[list[TabDict]]: ...
    @overload
    def query(self, queryInfo: TabQueryInfo, callback: Callable[..., Any]) -> None: ...
    @overload
    def update(
        self, tabId: int | None, updateProperties: UpdateTabProperties, callback: None = None
    ) -> Awaitable[TabDict]: ...
    @overload
    def update(
        self, tabId: int | None, updateProperties: UpdateTabProperties, callback: Callable[..., Any]
    ) -> None: ...
    @overload
    def update(self, updateProperties: UpdateTabProperties, /) -> Awaitable[TabDict]: ...
    @overload
    def move(
        self, tabIds: int | Sequence[int], moveProperties: MoveProperties, callback: None = None
    ) -> Awaitable[list[TabDict]]: ...
    @overload
    def move(
        self, tabIds: int | Sequence[int], moveProperties: MoveProperties, callback: Callable[..., Any]
    ) -> None: ...
    @overload
    def reload(
        self, tabId: int | None = None, reloadProperties: ReloadProperties | None = None, callback: None = None
    ) -> Awaitable[None]: ...
    @overload
    def reload(
        self, tabId: int | None, reloadProperties: ReloadProperties | None, callback: Callable[..., Any]
    ) -> None: ...
    @overload
    def remove(self, tabIds: int | Sequence[int], callback: None = None) -> Awaitable[None]: ...
    @overload
    def remove(self, tabIds: int | Sequence[int], callback: Callable[..., Any]) -> None: ...
    def show(self, tabIds: int | Sequence[int]) -> Awaitable[None]: ...
    def hide(self, tabIds: int | Sequence[int]) -> Awaitable[list[int]]: ...


class WindowsNamespace(Protocol):
    """`browser.windows`."""

    onCreated: ScriptEventType[WindowDict]
    onRemoved: ScriptEventType[int]
    onFocusChanged: ScriptEventType[int]
    WINDOW_ID_NONE: Literal[-1]
    WINDOW_ID_CURRENT: Literal[-2]
    WindowType: WindowTypeType
    WindowState: WindowStateType
    CreateType: CreateTypeType

    @overload
    def get(
        self, windowId: int, getInfo: GetWindowInfo | None = None, callback: None = None
    ) -> Awaitable[WindowDict]: ...
    @overload
    def get(self, windowId: int, getInfo: GetWindowInfo | None, callback: Callable[..., Any]) -> None: ...
    @overload
    def getCurrent(self, getInfo: GetWindowInfo | None = None, callback: None = None) -> Awaitable[WindowDict]: ...
    @overload
    def getCurrent(self, getInfo: GetWindowInfo | None, callback: Callable[..., Any]) -> None: ...
    @overload
    def getLastFocused(self, getInfo: GetWindowInfo | None = None, callback: None = None) -> Awaitable[WindowDict]: ...
    @overload
    def getLastFocused(self, getInfo: GetWindowInfo | None, callback: Callable[..., Any]) -> None: ...
    @overload
    def getAll(self, getInfo: GetWindowInfo | None = None, callback: None = None) -> Awaitable[list[WindowDict]]: ...
    @overload
    def getAll(self, getInfo: GetWindowInfo | None, callback: Callable[..., Any]) -> None: ...
    @overload
    def create(self, createData: CreateWindowData | None = None, callback: None = None) -> Awaitable[WindowDict]: ...
    @overload
    def create(self, createData: CreateWindowData | None, callback: Callable[..., Any]) -> None: ...
    @overload
    def update(self, windowId: int, updateInfo: UpdateWindowInfo, callback: None = None) -> Awaitable[WindowDict]: ...
    @overload
    def update(self, windowId: int, updateInfo: UpdateWindowInfo, callback: Callable[..., Any]) -> None: ...
    @overload
    def remove(self, windowId: int, callback: None = None) -> Awaitable[None]: ...
    @overload
    def remove(self, windowId: int, callback: Callable[..., Any]) -> None: ...


ResourceTypeName: TypeAlias = Literal[
    "main_frame",
    "sub_frame",
    "stylesheet",
    "script",
    "image",
    "object",
    "xmlhttprequest",
    "xslt",
    "ping",
    "beacon",
    "xml_dtd",
    "font",
    "media",
    "websocket",
    "csp_report",
    "imageset",
    "web_manifest",
    "speculative",
    "json",
    "other",
]


class HttpHeaderDict(TypedDict):
    """A header."""

    name: str
    value: NotRequired[str]
    binaryValue: NotRequired[list[int]]


class RequestFilterDict(TypedDict):
    """The requests that a listener wants to hear of."""

    urls: Sequence[str]
    types: NotRequired[Sequence[ResourceTypeName] | None]
    tabId: NotRequired[int | None]
    windowId: NotRequired[int | None]
    incognito: NotRequired[bool | None]


class ChallengerDict(TypedDict):
    """Who wants to know who asks."""

    host: str
    port: int


class ChosenProxyDict(TypedDict):
    """The proxy of a request."""

    connectionIsolationKey: str | None
    failoverTimeout: int
    host: str
    port: int
    proxyAuthorizationHeader: str | None
    proxyDNS: bool
    type: str
    username: str


class ProxyRequestDetails(TypedDict):
    """What a listener of proxy.onRequest is told."""

    requestId: str
    url: str
    originUrl: NotRequired[str]
    documentUrl: NotRequired[str]
    method: str
    type: ResourceTypeName
    timeStamp: int
    tabId: int
    frameId: int
    parentFrameId: int
    incognito: bool
    thirdParty: bool
    cookieStoreId: str
    fromCache: NotRequired[bool]
    requestHeaders: NotRequired[list[HttpHeaderDict]]
    frameAncestors: list[Any]
    urlClassification: dict[str, list[str]]


class RequestDetails(ProxyRequestDetails):
    """What a listener of webRequest is told."""

    responseHeaders: NotRequired[list[HttpHeaderDict]]
    statusCode: NotRequired[int]
    statusLine: NotRequired[str]
    error: NotRequired[str]
    redirectUrl: NotRequired[str]
    requestBody: NotRequired[None]
    scheme: NotRequired[str]
    realm: NotRequired[str]
    isProxy: NotRequired[bool]
    challenger: NotRequired[ChallengerDict]
    proxyInfo: ChosenProxyDict | None
    ip: str | None


class RequestEventType(Protocol):
    """An event of webRequest. What a listener may answer is a dictionary, or a coroutine that returns one."""

    def addListener(
        self,
        listener: Callable[[RequestDetails], Any],
        wishes: RequestFilterDict,
        extraInfoSpec: Sequence[str] | None = None,
        /,
    ) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[RequestDetails], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[RequestDetails], Any], /) -> bool:
        """Whether a function is registered."""


class ProxyEventType(Protocol):
    """proxy.onRequest. A listener answers with a proxy, a list of them, nothing, or a coroutine that returns that."""

    def addListener(
        self,
        listener: Callable[[ProxyRequestDetails], Any],
        wishes: RequestFilterDict,
        extraInfoSpec: Sequence[Literal["requestHeaders"]] | None = None,
        /,
    ) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[ProxyRequestDetails], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[ProxyRequestDetails], Any], /) -> bool:
        """Whether a function is registered."""


class ResourceTypeType(Protocol):
    """What a request is for."""

    MAIN_FRAME: Literal["main_frame"]
    SUB_FRAME: Literal["sub_frame"]
    STYLESHEET: Literal["stylesheet"]
    SCRIPT: Literal["script"]
    IMAGE: Literal["image"]
    OBJECT: Literal["object"]
    XMLHTTPREQUEST: Literal["xmlhttprequest"]
    XSLT: Literal["xslt"]
    PING: Literal["ping"]
    BEACON: Literal["beacon"]
    XML_DTD: Literal["xml_dtd"]
    FONT: Literal["font"]
    MEDIA: Literal["media"]
    WEBSOCKET: Literal["websocket"]
    CSP_REPORT: Literal["csp_report"]
    IMAGESET: Literal["imageset"]
    WEB_MANIFEST: Literal["web_manifest"]
    SPECULATIVE: Literal["speculative"]
    JSON: Literal["json"]
    OTHER: Literal["other"]


class OnBeforeRequestOptionsType(Protocol):
    """What a listener of onBeforeRequest may ask for."""

    BLOCKING: Literal["blocking"]
    REQUESTBODY: Literal["requestBody"]


class OnBeforeSendHeadersOptionsType(Protocol):
    """What a listener of onBeforeSendHeaders may ask for."""

    REQUESTHEADERS: Literal["requestHeaders"]
    BLOCKING: Literal["blocking"]


class OnSendHeadersOptionsType(Protocol):
    """What a listener of onSendHeaders may ask for."""

    REQUESTHEADERS: Literal["requestHeaders"]


class OnHeadersReceivedOptionsType(Protocol):
    """What a listener of onHeadersReceived may ask for."""

    BLOCKING: Literal["blocking"]
    RESPONSEHEADERS: Literal["responseHeaders"]


class OnAuthRequiredOptionsType(Protocol):
    """What a listener of onAuthRequired may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]
    BLOCKING: Literal["blocking"]


class OnResponseStartedOptionsType(Protocol):
    """What a listener of onResponseStarted may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class OnBeforeRedirectOptionsType(Protocol):
    """What a listener of onBeforeRedirect may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class OnCompletedOptionsType(Protocol):
    """What a listener of onCompleted may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class WebRequestNamespace(Protocol):
    """`browser.webRequest`."""

    MAX_HANDLER_BEHAVIOR_CHANGED_CALLS_PER_10_MINUTES: int
    onBeforeRequest: RequestEventType
    onBeforeSendHeaders: RequestEventType
    onSendHeaders: RequestEventType
    onHeadersReceived: RequestEventType
    onAuthRequired: RequestEventType
    onResponseStarted: RequestEventType
    onBeforeRedirect: RequestEventType
    onCompleted: RequestEventType
    onErrorOccurred: RequestEventType
    ResourceType: ResourceTypeType
    OnBeforeRequestOptions: OnBeforeRequestOptionsType
    OnBeforeSendHeadersOptions: OnBeforeSendHeadersOptionsType
    OnSendHeadersOptions: OnSendHeadersOptionsType
    OnHeadersReceivedOptions: OnHeadersReceivedOptionsType
    OnAuthRequiredOptions: OnAuthRequiredOptionsType
    OnResponseStartedOptions: OnResponseStartedOptionsType
    OnBeforeRedirectOptions: OnBeforeRedirectOptionsType
    OnCompletedOptions: OnCompletedOptionsType

    @overload
    def handlerBehaviorChanged(self, callback: None = None) -> Awaitable[None]: ...
    @overload
    def handlerBehaviorChanged(self, callback: Callable[..., Any]) -> None: ...


class NavigationEventType(Protocol):
    """An event of webNavigation."""

    def addListener(self, listener: Callable[[dict[str, Any]], Any], filters: dict[str, Any] | None = None, /) -> None:
        """Call a function whenever this happens, or only where a URL filter matches."""

    def removeListener(self, listener: Callable[[dict[str, Any]], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[dict[str, Any]], Any], /) -> bool:
        """Whether a function is registered."""


class WebNavigationNamespace(Protocol):
    """`browser.webNavigation`."""

    onBeforeNavigate: NavigationEventType
    onCommitted: NavigationEventType
    onDOMContentLoaded: NavigationEventType
    onCompleted: NavigationEventType
    onErrorOccurred: NavigationEventType
    onReferenceFragmentUpdated: NavigationEventType

    @overload
    def getFrame(self, details: dict[str, Any], callback: None = None) -> Awaitable[Any]: ...
    @overload
    def getFrame(self, details: dict[str, Any], callback: Callable[..., Any]) -> None: ...

    @overload
    def getAllFrames(self, details: dict[str, Any], callback: None = None) -> Awaitable[Any]: ...
    @overload
    def getAllFrames(self, details: dict[str, Any], callback: Callable[..., Any]) -> None: ...


class ProxyErrorDict(TypedDict):
    """What was wrong with the answer of a listener."""

    message: str
    fileName: str
    lineNumber: int
    stack: str


class ProxyNamespace(Protocol):
    """`browser.proxy`."""

    onRequest: ProxyEventType
    onError: ScriptEventType[ProxyErrorDict]


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
