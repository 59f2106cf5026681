"""The types of windows."""

# ruff: noqa: N803, N815 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

from hatbox.api.typed.events import ScriptEventType
from hatbox.api.typed.tabs import TabDict, WindowType, WindowTypeType

__all__ = [
    "CreateTypeType",
    "CreateWindowData",
    "GetWindowInfo",
    "UpdateWindowInfo",
    "WindowDict",
    "WindowState",
    "WindowStateType",
    "WindowsNamespace",
]


WindowState: TypeAlias = Literal["normal", "minimized", "maximized", "fullscreen", "docked"]


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
