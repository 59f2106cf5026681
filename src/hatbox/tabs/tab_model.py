"""Tabs and windows, and the change records about them. Contains no rules for changing them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import NO_GROUP, TabRow, Transaction, WindowRow
from hatbox.urls.protected_pages import without_protected_paths

__all__ = [
    "ACTIVATED",
    "ATTACHED",
    "BLANK",
    "CREATED",
    "DETACHED",
    "FRONT_REQUESTED",
    "HIGHLIGHT_CHANGED",
    "MOVED",
    "NAVIGATED",
    "NEW_TAB",
    "NO_WINDOW",
    "OPENED_BY_PAGE",
    "PAGE_HIDDEN",
    "REMOVED",
    "UPDATED",
    "WINDOW_CREATED",
    "WINDOW_FOCUSED",
    "WINDOW_REMOVED",
    "WINDOW_UPDATED",
    "PageHidden",
    "Tab",
    "TabActivation",
    "TabHighlight",
    "TabMove",
    "TabPosition",
    "TabRemoval",
    "TabUpdate",
    "Window",
    "all_tabs",
    "decoder",
    "display_title",
    "is_blank",
    "record_change",
    "tab_of",
    "tabs_of",
    "window_of",
]

T = TypeVar("T")

_BEFORE_HOST: Final = re.compile(r"^[^:]+://(?:www\.)?")

BLANK: Final = "about:blank"
NEW_TAB: Final = "New Tab"  # the title of a blank page
NO_WINDOW: Final = -1  # the id that stands for no window

CREATED, UPDATED, REMOVED = "tabs.created", "tabs.updated", "tabs.removed"
OPENED_BY_PAGE = "tabs.opened"  # a page opened another one: its new tab, whose opener is the tab of the page
NAVIGATED = "tabs.navigated"  # a navigation was requested; read by engines only
ACTIVATED, MOVED, ATTACHED, DETACHED = "tabs.activated", "tabs.moved", "tabs.attached", "tabs.detached"
HIGHLIGHT_CHANGED = "tabs.highlighted"  # other tabs are highlighted, and the active tab is the same
PAGE_HIDDEN = "engine.hidden"  # an engine hid the page
FRONT_REQUESTED = "engine.front"  # an active tab is to be brought to the front: its id
WINDOW_CREATED, WINDOW_REMOVED = "windows.created", "windows.removed"
WINDOW_UPDATED, WINDOW_FOCUSED = "windows.updated", "windows.focused"


class Tab(msgspec.Struct, frozen=True):
    """A tab: its position in a window, and its page. The names in JSON are those of earlier versions."""

    id: int
    window_id: int
    index: int
    cookie_store_id: str
    url: str
    pending_url: str = msgspec.field(name="target")
    """The URL of the navigation in progress; empty without one."""
    title: str
    icon: str
    """The URL of the page's icon; empty without one."""
    active: bool
    pinned: bool
    hidden: bool
    muted: bool
    muted_by: str
    """The id of the caller that last muted or unmuted the tab; empty if none did."""
    discardable: bool
    opener_id: int | None
    successor_id: int | None
    """The tab to activate when this one is closed, if set."""
    last_accessed: float
    """In seconds since 1970."""
    navigation_id: int = msgspec.field(name="navigation")
    """The id of the last requested navigation."""
    loading: bool
    """Whether that navigation has not completed yet."""
    started: bool = msgspec.field(name="begun")
    """Whether an engine has started it."""
    http_status: int | None
    """The status of the HTTP response; None without one."""
    content_type: str
    error: str
    """Why loading failed; empty on success."""
    discarded: bool = False
    """Whether it has no page until it is activated, navigated or reloaded."""
    highlighted: bool = False
    """Whether it is active, or highlighted beside the active tab."""
    group_id: int = NO_GROUP
    """The id of its group; -1 without one."""

    @property
    def status(self) -> Literal["loading", "complete"]:
        """`loading` while an engine loads a page, else `complete`, also while no engine runs."""
        return "loading" if self.started else "complete"

    @property
    def display_title(self) -> str:
        """The title shown to users: that of the page, else its URL without scheme."""
        return display_title(self.title, self.url, self.pending_url)


class Window(msgspec.Struct, frozen=True):
    """A window. Position and size are None until set; then the engine chooses them."""

    id: int
    focused: bool
    state: str
    kind: str
    title_preface: str
    left: int | None
    top: int | None
    width: int | None
    height: int | None


class TabUpdate(msgspec.Struct, frozen=True):
    """A tab after an update, and the changed attributes."""

    tab: Tab
    changed: tuple[str, ...]
    focused: bool
    """Whether its window has the focus."""


class TabActivation(msgspec.Struct, frozen=True):
    """A tab became the active tab of its window."""

    tab_id: int
    previous_tab_id: int | None
    window_id: int
    highlighted: tuple[int, ...] = ()
    """The highlighted tabs in their order, if this one is not the only one."""


class TabHighlight(msgspec.Struct, frozen=True):
    """The highlighted tabs of a window, in their order."""

    tab_ids: tuple[int, ...]
    window_id: int


class PageHidden(msgspec.Struct, frozen=True):
    """An engine has hidden the page of a tab."""

    tab_id: int
    not_saved: tuple[str, ...]
    """Describes typed text that is lost, for the user, without the text."""


class TabMove(msgspec.Struct, frozen=True):
    """A tab moved within its window."""

    tab_id: int
    window_id: int
    from_index: int
    to_index: int


class TabPosition(msgspec.Struct, frozen=True):
    """The old or new position of a tab that moved to another window."""

    tab_id: int
    window_id: int
    index: int


class TabRemoval(msgspec.Struct, frozen=True):
    """A closed tab, and whether its window was closed."""

    tab: Tab
    window_closing: bool


def is_blank(url: str) -> bool:
    """Whether a URL is the blank page, which may have a query and a fragment."""
    return url.partition("#")[0].partition("?")[0].lower() == BLANK


def display_title(title: str, url: str, pending_url: str) -> str:
    """The title of a tab that is shown to users."""
    return title or _label(pending_url if url == BLANK and pending_url else url)


def tab_of(transaction: Transaction, row: TabRow) -> Tab:
    """The tab stored in a row, with its index. The row must be current."""
    return _tab(row, transaction.tabs.indexes([row])[row.id])


def tabs_of(transaction: Transaction, rows: Sequence[TabRow]) -> list[Tab]:
    """The tabs stored in these rows. Cheaper than one by one."""
    indexes = transaction.tabs.indexes(rows)
    return [_tab(row, indexes[row.id]) for row in rows]


def all_tabs(transaction: Transaction, window: int | None = None) -> list[Tab]:
    """All tabs, or all of a window, by window and index."""
    tabs: list[Tab] = []
    for row in transaction.tabs.find(window=window):
        is_next = bool(tabs) and tabs[-1].window_id == row.window
        tabs.append(_tab(row, tabs[-1].index + 1 if is_next else 0))
    return tabs


def _tab(row: TabRow, index: int) -> Tab:
    return Tab(
        id=row.id,
        window_id=row.window,
        index=index,
        cookie_store_id=cookie_store_id_of(row.store),
        url=row.url,
        pending_url=row.target,
        title=row.title,
        icon=row.icon,
        active=row.active == 1,
        pinned=row.pinned == 1,
        hidden=row.hidden == 1,
        muted=row.muted == 1,
        muted_by=row.muted_by,
        discardable=row.discardable == 1,
        opener_id=row.opener,
        successor_id=row.successor,
        last_accessed=row.last_accessed,
        navigation_id=row.navigation,
        loading=row.loaded < row.navigation,
        started=row.loaded < row.begun,
        http_status=row.status,
        content_type=row.content_type,
        error=row.error,
        discarded=row.discarded == 1,
        highlighted=row.active == 1 or row.highlighted == 1,
        group_id=row.tab_group,
    )


def window_of(row: WindowRow, *, focused: bool) -> Window:
    """The window stored in a row."""
    return Window(
        id=row.id,
        focused=focused,
        state=row.state,
        kind=row.kind,
        title_preface=row.title_preface,
        left=row.left,
        top=row.top,
        width=row.width,
        height=row.height,
    )


def record_change(transaction: Transaction, topic: str, payload: msgspec.Struct | int) -> None:
    """Append a record to the change log."""
    transaction.changes.append(topic, _encode(payload))


def decoder(kind: type[T]) -> Callable[[bytes], T]:
    """A decoder for payloads of one type."""
    return msgspec.json.Decoder(kind).decode


def _label(url: str) -> str:
    return NEW_TAB if url == BLANK else _BEFORE_HOST.sub("", without_protected_paths(url))


_encode = msgspec.json.Encoder().encode
