"""The types of tabs, and the ports that lead to their pages."""

# ruff: noqa: N802, N803, N815, D102 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, TypeVar, overload

from hatbox.api.typed.events import Payload, ScriptEventType

__all__ = [
    "ActiveInfo",
    "AttachInfo",
    "CreateTabProperties",
    "DetachInfo",
    "DuplicateProperties",
    "HighlightInfo",
    "MessageTarget",
    "MoveInfo",
    "MoveProperties",
    "MutedInfoDict",
    "MutedInfoReasonType",
    "PortEventType",
    "PortType",
    "ReloadProperties",
    "RemoveInfo",
    "SharingStateDict",
    "TabChangeInfo",
    "TabConnectInfo",
    "TabDict",
    "TabEventType",
    "TabQueryInfo",
    "TabStatus",
    "TabStatusType",
    "TabUpdatedEventType",
    "TabsNamespace",
    "UpdateFilterDict",
    "UpdatePropertyName",
    "UpdatePropertyNameType",
    "UpdateTabProperties",
    "WindowType",
    "WindowTypeType",
]


TabStatus: TypeAlias = Literal["loading", "complete"]


WindowType: TypeAlias = Literal["normal", "popup", "panel", "app", "devtools"]


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
    def getCurrent(self, callback: None = None) -> Awaitable[TabDict | None]: ...
    @overload
    def getCurrent(self, callback: Callable[..., Any]) -> None: ...
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
