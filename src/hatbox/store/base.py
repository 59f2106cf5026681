"""What a store must do. The whole contract: the services above know this module and no other of the folder.

A service hands the store a piece of work: a function of a transaction. The store runs it once, whole, in the order in
which work was handed in, and answers with a future. Work only reads and writes through its transaction and has no
other effect, because a store may have to run it again.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from hatbox.store.lease import Lease
from hatbox.store.processes import ProcessId

__all__ = [
    "RESYNC",
    "ChangeLog",
    "ChangeRecord",
    "ChangeSubscriber",
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
    "SiteDataTable",
    "Store",
    "TabRow",
    "TabTable",
    "Transaction",
    "TransactionFunction",
    "WindowRow",
    "WindowTable",
]

T = TypeVar("T")

IdentityRow: TypeAlias = tuple[int, str, str, str, int]
"""One identity: number, name, icon, color, hidden (0 or 1). A tuple, because a million of them must be cheap."""

CookieRowKey: TypeAlias = tuple[str, int, str, str, str]
"""What makes two cookies of one store the same: domain, host_only (0 or 1), path, name, partition."""

CookieRow: TypeAlias = tuple[str, int, str, str, str, str, int, int, str, float | None, int, float, float]
"""One cookie: its key, then value, secure, http_only, same_site, expires, sequence, created, last_access."""

CookieTimeRow: TypeAlias = tuple[float, float | None, float | None]
"""The high-water time of cookies: the time reached; of an unconfirmed leap, the time before and after it."""


class TabRow(NamedTuple):
    """One tab. What is true or false is 1 or 0; `store` is the number of its identity, 0 for none."""

    id: int
    window: int
    position: int
    store: int
    url: str
    target: str
    """The URL that a load under way leads to; empty if none is."""
    title: str
    icon: str
    active: int
    pinned: int
    hidden: int
    muted: int
    muted_by: str
    discardable: int
    opener: int | None
    owner: int | None
    """The tab that is activated when this one is closed, as long as no other was active in between."""
    related: int | None
    """The last tab that was opened from this one, as long as it is active."""
    successor: int | None
    last_accessed: float
    navigation: int
    """How many loads were asked for; `begun` is the last that an engine has begun, `loaded` the last that has ended."""
    begun: int
    loaded: int
    status: int | None
    content_type: str
    error: str


class WindowRow(NamedTuple):
    """One window. The one with the highest `focused` has the focus; a place or size that is None is the engine's."""

    id: int
    focused: int
    state: str
    kind: str
    title_preface: str
    left: int | None
    top: int | None
    width: int | None
    height: int | None


class ChangeRecord(NamedTuple):
    """Something that was committed: what it is about, and the details as JSON."""

    topic: str
    payload: bytes
    call: int | None
    """The number of the call that made it, if it was made through this store and not in another process."""


RESYNC: Final = "missed"
"""The topic of a change that tells a follower: changes were lost to you, look at everything anew."""

ChangeSubscriber: TypeAlias = Callable[[ChangeRecord], None]


class IdentityTable(Protocol):
    """The identities, in the user's order."""

    def get(self, number: int) -> IdentityRow | None:
        """One identity, or None."""

    def find(self, name: str | None = None) -> list[IdentityRow]:
        """All identities, or those with exactly this name."""

    def names(self, limit: int) -> list[str]:
        """Names that are in use, each once, not more than `limit`."""

    def count(self) -> int:
        """How many identities there are."""

    def insert(self, name: str, icon: str, color: str) -> int:
        """Add an identity at the end; returns its number, which no identity of this profile ever had."""

    def update(self, number: int, **changed: str | int) -> None:
        """Set what has changed of an identity: its name, icon, color or hidden."""

    def delete(self, number: int) -> None:
        """Drop an identity."""

    def move(self, numbers: Sequence[int], position: int) -> None:
        """Take these out, and put them back as one block, in their old order, before the one now at `position`."""


class CookieTable(Protocol):
    """The cookies of all stores. A store is known by the number of its identity; 0 is that of no identity."""

    def load(self, store: int) -> list[CookieRow]:
        """All cookies of a store."""

    def find(
        self, store: int, *, name: str | None = None, domains: Sequence[str] | None = None, below: str | None = None
    ) -> list[CookieRow]:
        """The cookies of a store with this name; of exactly these domains; of a domain and of everything below it."""

    def count(self, store: int, below: str | None = None) -> int:
        """How many cookies a store has, or how many of a domain and of everything below it."""

    def put(self, store: int, rows: Iterable[CookieRow]) -> None:
        """Keep these cookies, in the place of those with the same key."""

    def delete(self, store: int, keys: Iterable[CookieRowKey]) -> None:
        """Drop these cookies."""

    def clear(self, store: int) -> None:
        """Drop all cookies of a store."""

    def touch(self, store: int, used: Iterable[tuple[float, CookieRowKey]]) -> None:
        """Note when these cookies were last used."""


class CookieTimeTable(Protocol):
    """The high-water time by which cookies expire: one for all stores of the profile."""

    def get(self) -> CookieTimeRow | None:
        """The high-water time; None if none was stored yet."""

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        """Replace the stored high-water time."""


class TabTable(Protocol):
    """The tabs of all windows."""

    def get(self, tab: int) -> TabRow | None:
        """One tab, or None."""

    def find(self, *, window: int | None = None, store: int | None = None) -> list[TabRow]:
        """All tabs, or those of a window or a store: window by window, in the order of each."""

    def insert(self, window: int, position: int, store: int, **fields: str | int | float | None) -> int:
        """Add a tab; returns its id, which no tab of this profile ever had."""

    def update(self, tab: int, **changed: str | int | float | None) -> None:
        """Set what has changed of a tab."""

    def delete(self, tab: int) -> None:
        """Drop a tab, and what is kept of its page."""

    def set_positions(self, order: Iterable[tuple[int, int]]) -> None:
        """Give tabs these positions: pairs of a tab and its position."""

    def page_snapshot(self, tab: int) -> bytes | None:
        """What an engine has kept of a tab's page, to open it again as it was."""

    def save_page_snapshot(self, tab: int, page: bytes) -> None:
        """Keep this of a tab's page."""


class WindowTable(Protocol):
    """The windows."""

    def get(self, window: int) -> WindowRow | None:
        """One window, or None."""

    def find(self) -> list[WindowRow]:
        """All windows, in the order in which they were opened."""

    def last_focused(self) -> WindowRow | None:
        """The window that has, or last had, the focus; None where there is no window."""

    def insert(self, **fields: str | int | None) -> int:
        """Add a window; returns its id, which no window of this profile ever had."""

    def update(self, window: int, **changed: str | int | None) -> None:
        """Set what has changed of a window."""

    def delete(self, window: int) -> None:
        """Drop a window."""

    def focus(self, window: int) -> None:
        """Give the focus to a window."""


class SiteDataTable(Protocol):
    """What sites keep in a browser beside cookies, as the engine has saved it: one entry for a store and an origin."""

    def load(self, store: int) -> list[tuple[str, bytes]]:
        """The origins of a store, and what each keeps."""

    def put(self, store: int, origin: str, data: bytes) -> None:
        """Keep this for an origin, in the place of what it had."""

    def delete(self, store: int, origin: str) -> None:
        """Drop what an origin keeps."""

    def clear(self, store: int) -> None:
        """Drop what all origins of a store keep."""


class ExtensionTable(Protocol):
    """What extensions keep, and what is registered for them: values as JSON, each under an extension, a kind and a key.

    They stand in the order in which they were first put.
    """

    def get(self, extension: str, kind: str, key: str) -> bytes | None:
        """One value, or None."""

    def find(self, kind: str, extension: str | None = None) -> list[tuple[str, str, bytes]]:
        """All values of a kind, or those of one extension: extension, key, value."""

    def put(self, extension: str, kind: str, key: str, value: bytes) -> None:
        """Keep a value, in the place of the one that had this key."""

    def delete(self, extension: str, kind: str, key: str) -> None:
        """Drop a value."""

    def clear(self, extension: str, kind: str | None = None) -> None:
        """Drop all values of a kind, or all that there is of an extension."""

    def move(self, extension: str, to: str) -> None:
        """Put all values of an extension under another name, in their order."""

    def size(self, extension: str, kind: str) -> int:
        """How many bytes the keys and values of a kind have together."""

    def most(self) -> int:
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


class ChangeLog(Protocol):
    """What has happened to the profile, for those who follow it."""

    def append(self, topic: str, payload: bytes) -> None:
        """Note a change, with JSON as its payload; followers in every process hear of it once it is committed."""


class Processes(Protocol):
    """The processes that use the profile, on this machine and on others."""

    @property
    def current(self) -> ProcessId:
        """This process."""

    def is_running(self, process: ProcessId) -> bool:
        """Whether a process is running. On another machine: whether it is registered; see Store.register_process."""


class Transaction(Protocol):
    """What a piece of work may read and write."""

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
        """The table of what sites keep beside cookies."""

    @property
    def extensions(self) -> ExtensionTable:
        """The table of what extensions keep."""

    @property
    def packages(self) -> PackageTable:
        """The table of the packages of installed extensions."""

    @property
    def changes(self) -> ChangeLog:
        """The log of changes."""

    @property
    def processes(self) -> Processes:
        """The processes that use the profile."""


TransactionFunction: TypeAlias = Callable[[Transaction], T]


class Store(ABC):
    """A profile's durable half. Bound to the event loop that opened it."""

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
    def lease(self, name: str) -> Lease:
        """The lease with this name. Two objects with one name are one lease."""

    @abstractmethod
    async def register_process(self) -> None:
        """Let processes on other machines see that this process is running, until the store is closed."""

    @abstractmethod
    async def open(self) -> None:
        """Open what is there, or make a new profile where nothing is. Raises ProfileError and leaves no trace."""

    @abstractmethod
    async def close(self) -> None:
        """Finish all work that was handed in, then let go of everything. Closing twice is no error."""

    @abstractmethod
    def read(self, work: TransactionFunction[T], *, single_statement: bool = False) -> asyncio.Future[T]:
        """Run work that only reads. It sees all that was handed in before, and every process's latest commit.

        Work that asks the tables only once says so: one question always sees one state, and is cheaper alone.
        """

    @abstractmethod
    def shared_snapshot(self) -> AbstractContextManager[None]:
        """Let the reads in the body see one state of the profile, that of the first: it is cheaper than one for each.

        For calls that were made together. Nothing in the body may wait.
        """

    @abstractmethod
    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run work in a transaction. The future resolves when the effect is on disk, after followers were told."""

    @property
    @abstractmethod
    def last_call_id(self) -> int:
        """How many pieces of work have been handed in so far. The latest call has this number."""

    @abstractmethod
    def deliver_pending_changes(self) -> asyncio.Future[None]:
        """Resolves when followers were told of everything that anyone had committed when it was called."""

    @abstractmethod
    def subscribe(self, follower: ChangeSubscriber) -> None:
        """Tell `follower` of every change from now on: once each, in the order of their commits, on this loop."""

    @abstractmethod
    def unsubscribe(self, follower: ChangeSubscriber) -> None:
        """Stop telling `follower`."""
