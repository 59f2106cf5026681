"""The types of webNavigation."""

# ruff: noqa: N802, N815 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, overload

__all__ = [
    "NavigationEventType",
    "WebNavigationNamespace",
]


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
