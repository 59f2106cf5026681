"""The contract of a store, with lease.py, processes.py, record_tables.py and grant_tables.py.

The layers above know no other module of this package.

A service passes the store a transaction function. The store runs the functions in the order of the calls, each
atomically, and returns a future. A transaction function reads and writes only through its transaction and has no other
effect: it may run twice, and in another thread.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from hatbox.errors import ProfileClosed
from hatbox.store.grant_tables import ActivityTable, GrantTable
from hatbox.store.keys import Key
from hatbox.store.lease import Lease
from hatbox.store.processes import ProcessId
from hatbox.store.record_tables import BookmarkTable, ClosedTabTable, HistoryTable

__all__ = [
    "NO_GROUP",
    "RESYNC",
    "ChangeLog",
    "ChangeRecord",
    "ChangeSubscriber",
    "CommitRecord",
    "CookieDescription",
    "CookieMetadata",
    "CookieRow",
    "CookieRowKey",
    "CookieTable",
    "CookieTimeRow",
    "CookieTimeTable",
    "ExtensionTable",
    "IdentityRow",
    "IdentityTable",
    "PackageTable",
    "Processes",
    "RuleTable",
    "SettingsTable",
    "SiteDataTable",
    "Store",
    "TabRow",
    "TabTable",
    "TabText",
    "Transaction",
    "TransactionFunction",
    "TrashRow",
    "TrashTable",
    "WindowRow",
    "WindowSummary",
    "WindowTable",
    "not_open",
]

T = TypeVar("T")

NO_GROUP: Final = -1
"""`TabRow.tab_group` of a tab that is in no group."""

IdentityRow: TypeAlias = tuple[int, str, str, str, int]
"""One identity: userContextId, name, icon, color, hidden (0 or 1). A tuple, because a million must be cheap."""

CookieRowKey: TypeAlias = tuple[str, int, str, str, str]
"""The key of a cookie in its store: domain, host_only (0 or 1), path, name, partition."""

CookieRow: TypeAlias = tuple[str, int, str, str, str, str, int, int, str, float | None, int, float, float]
"""One cookie: its key, then value, secure, http_only, same_site, expires, sequence, created, last_access."""

CookieDescription: TypeAlias = tuple[str, int, str, str, str, int, int, str, float | None, float, float]
"""One cookie without its value: its key, then secure, http_only, same_site, expires, created, last_access."""

CookieMetadata: TypeAlias = tuple[int, str, str, int, float | None, float, float]
"""One cookie without its value: store, domain, name, http_only, expires, created, last_access."""

CookieTimeRow: TypeAlias = tuple[float, float | None, float | None]
"""The high-water time of cookies; then, for an unconfirmed leap of the clock, the time before and after it."""

TabText: TypeAlias = tuple[int, str, str, str]
"""The texts of a tab: store, title, URL, pending URL."""


class TabRow(NamedTuple):
    """One tab. Booleans are 1 or 0; `store` is the userContextId, 0 for the default store."""

    id: int
    window: int
    position: int
    """Orders the tabs of a window. Positions have gaps: TabTable.indexes returns the index of a tab."""
    store: int
    url: str
    target: str
    """The pending URL: that of a navigation in progress, or empty."""
    title: str
    icon: str
    active: int
    pinned: int
    hidden: int
    muted: int
    muted_by: str
    discardable: int
    """Whether the browser may discard it by itself."""
    opener: int | None
    owner: int | None
    """The tab to activate when this one is closed, until another tab was active."""
    related: int | None
    """The last tab that was opened from this one, while this one is active."""
    successor: int | None
    last_accessed: float
    navigation: int
    """The id of the last requested navigation. `begun` is the last one that was started, `loaded` the last ended."""
    begun: int
    loaded: int
    status: int | None
    content_type: str
    error: str
    discarded: int
    """Whether it has no page until it is activated, navigated or reloaded."""
    highlighted: int
    """Whether it is highlighted beside other tabs. The active tab is marked only if others are."""
    tab_group: int
    """The id of its group, or NO_GROUP."""


class WindowRow(NamedTuple):
    """One window. The highest `focused` has the focus. The engine chooses a position or size that is None."""

    id: int
    focused: int
    state: str
    kind: str
    title_preface: str
    left: int | None
    top: int | None
    width: int | None
    height: int | None


class WindowSummary(NamedTuple):
    """What the rules for one tab need to know about the other tabs of its window."""

    tab_count: int
    pinned_count: int
    active: TabRow | None
    latest: TabRow | None
    """The visible tab that was accessed last."""
    last_accessed: float
    """The last access time of all tabs; 0 without tabs."""
    related: tuple[TabRow, ...]
    """The tabs whose `related` is set."""


class TrashRow(NamedTuple):
    """A removed identity in the trash."""

    id: int
    """Its userContextId."""
    uuid: str
    name: str
    icon: str
    color: str
    removed: float
    """When it was removed, in seconds since 1970."""
    cookies: int
    """The number of its cookies."""
    tabs: int
    """The number of its tabs."""
    size: int
    """The size of its archive, in bytes."""


class ChangeRecord(NamedTuple):
    """One committed change: its topic, and the details as JSON."""

    topic: str
    payload: bytes
    call_id: int | None
    """The id of the call that made it; None for a change by another process."""


class CommitRecord(NamedTuple):
    """A row of the change log: a commit with its author."""

    sequence: int
    """Its number. Numbers increase."""
    time: float
    """In seconds since 1970."""
    program: str
    process: int
    """The process id."""
    machine: str
    changes: tuple[tuple[str, bytes], ...]
    """Topic and JSON payload of each change, in order."""


RESYNC: Final = "resync"
"""The topic of a change without details: changes were pruned before delivery, so the subscriber reloads its state."""

ChangeSubscriber: TypeAlias = Callable[[ChangeRecord], None]


class IdentityTable(Protocol):
    """The identities, in the user's order."""

    def get(self, user_context_id: int) -> IdentityRow | None:
        """One identity, or None."""

    def find(self, name: str | None = None) -> list[IdentityRow]:
        """All identities, or those with exactly this name."""

    def ids(self) -> list[int]:
        """The userContextIds of all identities, in the user's order. Not verified."""

    def get_many(self, user_context_ids: Collection[int]) -> list[IdentityRow]:
        """Those of these identities that exist, each once, in this order."""

    def names(self, limit: int) -> list[str]:
        """The names in use, each once, at most `limit`."""

    def count(self) -> int:
        """The number of identities."""

    def uuid(self, user_context_id: int) -> str | None:
        """The UUID of an identity; None if it does not exist."""

    def uuids(self) -> dict[str, int]:
        """The userContextIds of all identities, by UUID."""

    def find_uuids(self, uuids: Collection[str]) -> dict[str, int]:
        """The userContextIds of the identities with these UUIDs, by UUID. Reads all rows in some stores, once."""

    def find_uuid(self, uuid: str) -> int | None:
        """The userContextId of the identity with this UUID; None if there is none. Reads all rows in some stores."""

    def index(self, user_context_id: int) -> int:
        """The place of an identity in the user's order, from 0. Raises KeyError."""

    def last_id(self) -> int:
        """The highest userContextId that was ever used in this profile."""

    def insert(self, name: str, icon: str, color: str, *, uuid: str | None = None) -> int:
        """Add an identity at the end; returns its userContextId, which was never used before in this profile.

        Without `uuid`, it gets a new one.
        """

    def position(self, user_context_id: int) -> int | None:
        """The place of an identity as `restore` takes it; None if it does not exist. Reads no other identity."""

    def restore(
        self,
        user_context_id: int,
        uuid: str,
        name: str,
        icon: str,
        color: str,
        hidden: int,
        *,
        position: int | None = None,
    ) -> None:
        """Add an identity with an id that no identity has now, at the end or at a position that it had in this profile.

        The id is not given out again.
        """

    def update(self, user_context_id: int, **changed: str | int) -> None:
        """Set the name, icon, color or hidden of an identity."""

    def delete(self, user_context_id: int) -> None:
        """Delete an identity."""

    def move(self, user_context_ids: Sequence[int], position: int) -> None:
        """Move these, as one block in their old order, to `position` in the list of the others."""


class CookieTable(Protocol):
    """The cookies of all cookie stores. A `store` is a userContextId; 0 is the default store."""

    def load(self, store: int) -> list[CookieRow]:
        """All cookies of a store."""

    def describe(self, store: int) -> list[CookieDescription]:
        """All cookies of a store without their values, which are not decrypted. Not verified: never for requests."""

    def find(
        self,
        store: int,
        *,
        names: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        below: str | None = None,
    ) -> list[CookieRow]:
        """The cookies of a store with these names; of exactly these domains; of a domain and its subdomains."""

    def count(self, store: int, below: str | None = None) -> int:
        """The number of cookies in a store, or those of a domain and its subdomains."""

    def metadata(self, stores: Collection[int] | None = None) -> list[CookieMetadata]:
        """The cookies of all stores, or of these, without their values, which are not decrypted. In no order.

        Not verified: for lists that are shown to users, never for requests.
        """

    def domains(self, stores: Collection[int], now: float) -> list[tuple[int, str]]:
        """These stores with the domains of their cookies that have not expired, each once. Not verified either."""

    def next_expiries(self, stores: Collection[int], after: float) -> dict[int, float]:
        """The earliest expiry after a time, of each of these stores that has one. Not verified either."""

    def put(self, store: int, rows: Iterable[CookieRow]) -> None:
        """Store these cookies. They replace cookies with the same key."""

    def delete(self, store: int, keys: Iterable[CookieRowKey]) -> None:
        """Delete these cookies."""

    def clear(self, store: int) -> None:
        """Delete all cookies of a store."""

    def touch(self, store: int, used: Iterable[tuple[float, CookieRowKey]]) -> None:
        """Set the last access times of those of these cookies that exist and have an earlier one."""


class CookieTimeTable(Protocol):
    """The high-water time by which cookies expire: one for all stores of the profile."""

    def get(self) -> CookieTimeRow | None:
        """The high-water time; None before the first one is stored."""

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        """Replace the stored high-water time."""


class TabTable(Protocol):
    """The tabs of all windows."""

    def get(self, tab: int) -> TabRow | None:
        """One tab, or None."""

    def get_many(self, tabs: Collection[int]) -> list[TabRow]:
        """Those of these tabs that exist, each once, in this order."""

    def find(self, *, window: int | None = None, store: int | None = None) -> list[TabRow]:
        """All tabs, or those of a window or a cookie store, ordered by window and position."""

    def indexes(self, rows: Collection[TabRow]) -> dict[int, int]:
        """The index of each of these tabs in its window, by the id of the tab. The rows must be current."""

    def count(self, window: int) -> int:
        """The number of tabs in a window."""

    def pinned_count(self, window: int) -> int:
        """The number of pinned tabs in a window."""

    def places(self) -> list[tuple[int, int, int]]:
        """All tabs by window and position: id, window, store. Not verified."""

    def texts(self) -> list[TabText]:
        """The texts that a search finds of all tabs, in no order. Not verified."""

    def counts_by_store(self, stores: Collection[int] | None = None) -> dict[int, int]:
        """The number of tabs of each cookie store, or of each of these, that has tabs."""

    def active(self, window: int) -> TabRow | None:
        """The active tab of a window, or None."""

    def summary(self, window: int) -> WindowSummary:
        """What the rules for one tab need to know about its window, in one query."""

    def visible_neighbours(self, row: TabRow, leaving: Collection[int]) -> tuple[TabRow | None, TabRow | None]:
        """The nearest visible tabs to the left and to the right of a tab, except these."""

    def neighbours(self, row: TabRow) -> tuple[TabRow | None, TabRow | None]:
        """The tabs directly to the left and to the right of a tab, hidden ones too."""

    def referring(self, tabs: Collection[int]) -> list[TabRow]:
        """The tabs whose opener or successor is one of these, ordered by window and position."""

    def insert(
        self, window: int, index: int, store: int, *, pinned: int = 0, **fields: str | int | float | None
    ) -> TabRow:
        """Add a tab at an index of a window. Its id was never used before in this profile."""

    def update(self, tab: int, **changed: str | int | float | None) -> None:
        """Set columns of a tab: all except window, position and pinned, which `move` sets."""

    def move(self, tab: int, window: int, index: int, *, pinned: int) -> None:
        """Move a tab to an index of its window or of another one. The index is the one after the move."""

    def delete(self, tab: int) -> None:
        """Delete a tab and its page snapshot."""

    def page_snapshot(self, tab: int) -> bytes | None:
        """The page snapshot of a tab, saved by an engine; None if the tab has none."""

    def save_page_snapshot(self, tab: int, page: bytes) -> None:
        """Save the page snapshot of a tab."""


class WindowTable(Protocol):
    """The windows."""

    def get(self, window: int) -> WindowRow | None:
        """One window, or None."""

    def find(self) -> list[WindowRow]:
        """All windows, in the order in which they were opened."""

    def last_focused(self, kind: str | None = None) -> WindowRow | None:
        """The window, or the window of this kind, that has, or last had, the focus; None without such windows."""

    def insert(self, **fields: str | int | None) -> int:
        """Add a window; returns its id, which was never used before in this profile."""

    def update(self, window: int, **changed: str | int | None) -> None:
        """Set columns of a window."""

    def delete(self, window: int) -> None:
        """Delete a window."""

    def focus(self, window: int) -> None:
        """Focus a window."""


class SiteDataTable(Protocol):
    """Site data other than cookies, as saved by an engine: one entry per cookie store and origin."""

    def load(self, store: int) -> list[tuple[str, bytes]]:
        """The origins of a store, each with its data."""

    def origins(self, store: int) -> list[str]:
        """The origins of a store."""

    def total_bytes(self, store: int) -> int:
        """The size of the data of all origins of a store. Does not read the data."""

    def sizes(self, stores: Collection[int] | None = None) -> list[tuple[int, str, int]]:
        """The origins of all stores, or of these: store, origin, the size of what is stored. Does not read the data."""

    def get(self, store: int, origin: str) -> bytes | None:
        """The data of an origin, or None."""

    def put(self, store: int, origin: str, data: bytes) -> None:
        """Replace the data of an origin."""

    def delete(self, store: int, origin: str) -> None:
        """Delete the data of an origin."""

    def clear(self, store: int) -> None:
        """Delete the data of all origins of a store."""


class ExtensionTable(Protocol):
    """Extension data: JSON values by extension, kind and key, in the order in which they were first put."""

    def get(self, extension: str, kind: str, key: str) -> bytes | None:
        """One value, or None."""

    def find(self, kind: str, extension: str | None = None) -> list[tuple[str, str, bytes]]:
        """All values of a kind, or those of one extension: extension, key, value."""

    def find_page(self, kind: str, extension: str, after: str, limit: int) -> list[tuple[str, bytes]]:
        """At most `limit` values of a kind whose keys follow `after` in binary order: key, value."""

    def load(self, extension: str) -> list[tuple[str, str, bytes]]:
        """All values of an extension: kind, key, value."""

    def put(self, extension: str, kind: str, key: str, value: bytes) -> None:
        """Store a value. It replaces the value with this key."""

    def replace(self, extension: str, kind: str, values: Mapping[str, bytes]) -> None:
        """Store values by key, after all others, in place of the values with these keys. Reads nothing."""

    def delete(self, extension: str, kind: str, key: str) -> None:
        """Delete a value."""

    def clear(self, extension: str, kind: str | None = None) -> None:
        """Delete all values of a kind, or all of an extension."""

    def clear_kind(self, kind: str) -> None:
        """Delete all values of a kind, of all extensions."""

    def move(self, extension: str, to: str) -> None:
        """Move all values of an extension to another one, in their order."""

    def size(self, extension: str, kind: str) -> int:
        """The size of all keys and values of a kind, in bytes."""

    def max_size(self) -> int:
        """An upper bound of the size of all values of all extensions, in bytes. Cheaper than the exact sum."""


class PackageTable(Protocol):
    """The files of installed extensions, packed, each package under the hash of its contents."""

    def get(self, digest: str) -> bytes | None:
        """One package, or None."""

    def put(self, digest: str, data: bytes) -> None:
        """Store a package."""

    def delete(self, digest: str) -> None:
        """Delete a package."""

    def digests(self) -> list[str]:
        """The hashes of all packages, sorted."""


class SettingsTable(Protocol):
    """Settings by identity and name, as JSON. An `identity` is a userContextId; 0 is the profile itself."""

    def get(self, identity: int, name: str) -> bytes | None:
        """One setting, or None."""

    def load(self, identity: int) -> list[tuple[str, bytes]]:
        """All settings of an identity, or of the profile: name, value."""

    def find(self, name: str) -> list[tuple[int, bytes]]:
        """All settings with this name: identity, value."""

    def put(self, identity: int, name: str, value: bytes) -> None:
        """Store a setting. It replaces the one with this name."""

    def delete(self, identity: int, name: str) -> None:
        """Delete a setting."""

    def clear(self, identity: int) -> None:
        """Delete all settings of an identity."""


class RuleTable(Protocol):
    """The site rules, as JSON, by number, in the order in which they were added."""

    def find(self, numbers: Collection[int] | None = None) -> list[tuple[int, bytes]]:
        """All rules, or those with these numbers: number, rule."""

    def insert(self, rule: bytes) -> int:
        """Add a rule; returns its number, which was never used before in this profile."""

    def put(self, number: int, rule: bytes) -> None:
        """Store a rule under this number. It replaces the rule with this number."""

    def delete(self, number: int) -> None:
        """Delete a rule."""


class TrashTable(Protocol):
    """The removed identities, each with an archive of its data, by userContextId."""

    def find(self, user_context_ids: Collection[int] | None = None) -> list[TrashRow]:
        """All removed identities, or these, without their archives, the first removed first."""

    def count(self) -> int:
        """The number of removed identities."""

    def get(self, user_context_id: int) -> tuple[TrashRow, bytes] | None:
        """A removed identity with its archive, or None."""

    def size(self, user_context_id: int) -> int | None:
        """The size of the archive of a removed identity; None if it is not in the trash. Does not read the archive."""

    def put(self, row: TrashRow, data: bytes) -> None:
        """Add a removed identity. It replaces the one with this id."""

    def delete(self, user_context_id: int) -> None:
        """Delete a removed identity for ever."""

    def total_bytes(self) -> int:
        """The size of all archives."""


class ChangeLog(Protocol):
    """The changes to the profile, for subscribers in every process."""

    def append(self, topic: str, payload: bytes) -> None:
        """Append a change with a JSON payload. Subscribers in every process receive it after the commit."""

    def latest_commits(self, limit: int, before: int | None = None) -> list[CommitRecord]:
        """The last commits that are in the log, or the last ones before a number, the newest first."""

    def scrub(self, choose: Callable[[Sequence[tuple[str, bytes]]], Collection[int]]) -> None:
        """Delete changes of earlier commits from the log, so that nothing of a deleted row stays in it.

        `choose` receives topic and payload of all changes, the oldest first, and returns the places of those to delete.
        A commit that loses changes gets RESYNC instead: a subscriber that has not received it yet reloads its state.
        Changes of this call stay: they are delivered.
        """


class Processes(Protocol):
    """The processes that use the profile, on this machine and on others."""

    @property
    def current(self) -> ProcessId:
        """This process."""

    def is_running(self, process: ProcessId) -> bool:
        """Whether a process is running. On another machine: whether it is registered; see Store.register_process."""


class Transaction(Protocol):
    """The tables, as a transaction function sees them."""

    def load(
        self,
        *,
        identities: Collection[int] = (),
        tabs: Collection[int] = (),
        windows: Collection[int] = (),
        stores: Collection[int] = (),
        values: Collection[tuple[str, str, str]] = (),
        settings: Collection[tuple[int, str]] = (),
        last_focused: bool = False,
    ) -> None:
        """Announce what the transaction will read, so that a store on a network reads all of it with its next query.

        `tabs`: these tabs, and the tabs that refer to them. `windows`: their summaries. `stores`: the tabs of these
        cookie stores. `values`: extension data, by extension, kind and key. `settings`: by identity and name.
        `last_focused`: the windows that this method of WindowTable returns. A hint: a transaction can also read what
        was not announced, and a local store does nothing.
        """

    def trim(self) -> None:
        """Release memory: execute what is queued, and discard what is cached. For transactions that write much."""

    @property
    def identities(self) -> IdentityTable:
        """The table of identities."""

    @property
    def cookies(self) -> CookieTable:
        """The table of cookies."""

    @property
    def cookie_time(self) -> CookieTimeTable:
        """The high-water time of cookies."""

    @property
    def tabs(self) -> TabTable:
        """The table of tabs."""

    @property
    def windows(self) -> WindowTable:
        """The table of windows."""

    @property
    def site_data(self) -> SiteDataTable:
        """The table of site data."""

    @property
    def extensions(self) -> ExtensionTable:
        """The table of extension data."""

    @property
    def packages(self) -> PackageTable:
        """The table of extension packages."""

    @property
    def settings(self) -> SettingsTable:
        """The table of settings."""

    @property
    def rules(self) -> RuleTable:
        """The table of site rules."""

    @property
    def trash(self) -> TrashTable:
        """The table of removed identities."""

    @property
    def history(self) -> HistoryTable:
        """The tables of visited pages and visits."""

    @property
    def bookmarks(self) -> BookmarkTable:
        """The table of bookmarks."""

    @property
    def closed_tabs(self) -> ClosedTabTable:
        """The table of recently closed tabs."""

    @property
    def grants(self) -> GrantTable:
        """The table of grants."""

    @property
    def activity(self) -> ActivityTable:
        """The table of the activity log."""

    @property
    def changes(self) -> ChangeLog:
        """The change log."""

    @property
    def processes(self) -> Processes:
        """The processes that use the profile."""

    def time(self) -> float:
        """The current time; see Store.time()."""


TransactionFunction: TypeAlias = Callable[[Transaction], T]


class Store(ABC):
    """The durable half of a profile. Bound to the event loop that opened it."""

    key: Key | None = None
    """The key to open it with. Without one, that of the environment: $HATBOX_KEY or $HATBOX_KEY_FILE."""
    create: bool = True
    """Whether opening creates the profile if it does not exist. If not, opening raises ProfileNotFound."""

    @property
    @abstractmethod
    def address(self) -> str:
        """The address that opens this profile, also in another process. May contain a password."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""

    @property
    @abstractmethod
    def side_folder(self) -> Path | None:
        """The local folder for files that users put beside the profile; None if the store has no such folder."""

    @abstractmethod
    def side_file(self, name: str) -> Path | None:
        """The path of a local file that belongs to this profile alone; None if the store has no such files."""

    @abstractmethod
    def owns_file(self, path: Path) -> bool:
        """Whether a local file is part of this profile. False if the store has no such files."""

    @property
    def is_encrypted(self) -> bool:
        """Whether values that hold logins are stored encrypted, with a key that only clients have. Only while open."""
        return False

    @abstractmethod
    def lease(self, name: str) -> Lease:
        """The lease with this name. Two objects with one name are one lease."""

    @abstractmethod
    def time(self) -> float:
        """The current time in seconds since 1970, by a clock that all processes of the profile share.

        Times that are stored in the profile, and those that are compared with them, are read from this clock. A store
        on a server returns the server's time; see server_clock.py.
        """

    @abstractmethod
    async def register_process(self) -> None:
        """Let processes on other machines see that this process is running, until the store is closed."""

    @abstractmethod
    async def open(self) -> None:
        """Open the profile, or create it. Raises ProfileError, and then changes nothing."""

    @abstractmethod
    async def close(self) -> None:
        """Finish all pending calls, then release all resources. May be called twice."""

    @abstractmethod
    def read(self, work: TransactionFunction[T], *, single_statement: bool = False) -> asyncio.Future[T]:
        """Run a transaction function that only reads. It sees all earlier calls, and the latest commit of any process.

        The future may be done when it is returned, or later. With `single_statement`, the function runs at most one
        query, which needs no transaction to see one state.
        """

    @abstractmethod
    def shared_snapshot(self) -> AbstractContextManager[None]:
        """Run the reads in the body on one snapshot, which is cheaper than one per read. The body must not await.

        A hint: a store may ignore it, so the reads may still see different states.
        """

    @abstractmethod
    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run a transaction function. The future resolves when the commit is durable, after subscribers were called."""

    @property
    @abstractmethod
    def last_call_id(self) -> int:
        """The id of the latest call. Ids increase."""

    @abstractmethod
    def deliver_pending_changes(self) -> asyncio.Future[None]:
        """Resolves when subscribers were called for every commit, by any process, that precedes this call."""

    @abstractmethod
    def subscribe(self, subscriber: ChangeSubscriber) -> None:
        """Call `subscriber` for every change from now on: once each, in commit order, on this event loop."""

    @abstractmethod
    def unsubscribe(self, subscriber: ChangeSubscriber) -> None:
        """Stop calling `subscriber`."""


def not_open(label: str) -> ProfileClosed:
    """The error of a call to a store that is not open."""
    remedy = "Open it with `async with hatbox.open() as profile`, or `profile = await hatbox.open()` in a notebook."
    return ProfileClosed(label, "it is not open", remedy)
