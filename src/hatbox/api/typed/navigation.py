"""The types of webNavigation."""

# ruff: noqa: N802, N815 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol, overload

__all__ = [
    "NavigationEventType",
    "TransitionQualifierType",
    "TransitionTypeType",
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


class TransitionTypeType(Protocol):
    """What caused a load."""

    LINK: Literal["link"]
    TYPED: Literal["typed"]
    AUTO_BOOKMARK: Literal["auto_bookmark"]
    AUTO_SUBFRAME: Literal["auto_subframe"]
    MANUAL_SUBFRAME: Literal["manual_subframe"]
    GENERATED: Literal["generated"]
    START_PAGE: Literal["start_page"]
    FORM_SUBMIT: Literal["form_submit"]
    RELOAD: Literal["reload"]
    KEYWORD: Literal["keyword"]
    KEYWORD_GENERATED: Literal["keyword_generated"]


class TransitionQualifierType(Protocol):
    """What else is known of a load."""

    CLIENT_REDIRECT: Literal["client_redirect"]
    SERVER_REDIRECT: Literal["server_redirect"]
    FORWARD_BACK: Literal["forward_back"]
    FROM_ADDRESS_BAR: Literal["from_address_bar"]


class WebNavigationNamespace(Protocol):
    """`browser.webNavigation`."""

    TransitionType: TransitionTypeType
    TransitionQualifier: TransitionQualifierType
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
