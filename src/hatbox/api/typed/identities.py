"""The types of contextualIdentities."""

# ruff: noqa: N803, N815, D102 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NotRequired, Protocol, TypedDict, overload

from hatbox.api.typed.events import ScriptEventType

__all__ = [
    "ColorDict",
    "ContextualIdentitiesNamespace",
    "ContextualIdentityDict",
    "CreateDetails",
    "IconDict",
    "IdentityChangeInfo",
    "QueryDetails",
    "UpdateDetails",
]


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


class IdentityChangeInfo(TypedDict):
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


class ContextualIdentitiesNamespace(Protocol):
    """`browser.contextualIdentities`, all surfaces in one: A and B have fewer members, and four fields only."""

    onCreated: ScriptEventType[IdentityChangeInfo]
    onUpdated: ScriptEventType[IdentityChangeInfo]
    onRemoved: ScriptEventType[IdentityChangeInfo]

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
