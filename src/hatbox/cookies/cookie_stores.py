"""Durable cookie stores: a jar for each identity, kept in the profile, shared with other processes.

The one module of this folder that does input and output, through the store that it is handed. A jar is loaded when it
is first used. What a jar takes in is on disk when the call resolves, and the jars of other processes hear of it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import inf
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange, Partition, SameSite
from hatbox.cookies.cookie_clock import ADVANCED, CookieClock
from hatbox.cookies.eviction import JarLimits
from hatbox.cookies.jar import Jar
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.request_urls import RequestUrl, as_target
from hatbox.cookies.samesite import NO_PAGE, RequestContext
from hatbox.errors import InvalidIdentity
from hatbox.events import Event
from hatbox.identities.ids import cookie_store_id_of, store_user_context_id
from hatbox.store.base import RESYNC, CookieRow, CookieRowKey, Store, Transaction
from hatbox.store.base import ChangeRecord as Committed

__all__ = [
    "CookieChange",
    "CookieStore",
    "CookieStores",
    "delete_cookies",
    "find_cookies",
    "load_cookies",
    "put_cookie",
    "write_changes",
]

_SAME_SITE: Final = {each.value: each for each in SameSite}
_SECURE: Final = 6  # where it stands in a row
_EXPIRES: Final = 9
_CHANGED: Final = "cookies.changed"
_GONE: Final = "cookies.gone"
_INSTANT: Final = 2e-6  # seconds; cookies are ordered by the microsecond in which they were created


class CookieChange(NamedTuple):
    """A cookie came to a store or went from it."""

    cookie_store_id: str
    cookie: Cookie
    removed: bool
    cause: ChangeCause


class CookieStores:
    """The cookie stores of a profile."""

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.time, *, keep_session_cookies: bool = True
    ) -> None:
        self._store = store
        self._clock = clock
        self._keep_session_cookies = keep_session_cookies
        self._open: dict[int, CookieStore] = {}
        self._begun: set[int] = set()  # the stores whose earlier sessions have ended here
        self._latest = 0.0
        self._time = CookieClock(store, lambda: self._clock())
        self._following = False
        self.on_changed: Event[CookieChange] = Event(
            "cookies.on_changed", call_counter=lambda: store.last_call_id, on_listeners_changed=self._follow
        )
        """Tells of each cookie that comes or goes, whichever process did it."""

    async def open(self, cookie_store_id: str) -> CookieStore:
        """The store with this id, its jar loaded; raises InvalidIdentity if there is none."""
        number = store_user_context_id(cookie_store_id)
        if number is None:
            raise InvalidIdentity(cookie_store_id)
        self._follow()
        if not self._time.is_loaded:
            await self._time.load()
        opened = self._open.get(number)
        if opened is None:  # known before it is loaded, so that it hears of what happens meanwhile
            opened = self._open[number] = CookieStore(self._store, self._time, number)
        if opened.is_stale:
            await self._load(opened, number)
        if number not in self._begun:
            self._begun.add(number)
            await opened.purge(keep_session_cookies=self._keep_session_cookies)
        return opened

    def prepare_row_access(self, number: int) -> float:
        """Make ready for work on the rows of a store instead of on its jar; returns the time, never the same twice.

        Where session cookies are not kept, those of earlier sessions are dropped first, as `open` does.
        """
        if not self._keep_session_cookies and number not in self._begun:
            self._begun.add(number)
            ended = self._store.write(lambda transaction: _end_session(transaction, number))
            ended.add_done_callback(lambda done: self._begun.discard(number) if _failed(done) else None)
        if not self._time.is_loaded:
            self._time.load_soon()
        self._latest = max(self._time.now(), self._latest + _INSTANT)
        return self._latest

    async def flush(self) -> None:
        """Bring to disk when cookies were last used. All else is there when its call resolves."""
        await asyncio.gather(self._time.flush(), *(opened.flush() for opened in list(self._open.values())))

    async def close(self) -> None:
        """Flush. When the profile is opened again, all jars are loaded anew."""
        try:
            await self.flush()
        finally:
            self._invalidate_all()
            self._time.forget()
            self._begun.clear()

    async def _load(self, opened: CookieStore, number: int) -> None:
        try:
            await opened.load()
        except InvalidIdentity:
            if not opened.is_loading and self._open.get(number) is opened:  # nobody else waits for it
                del self._open[number]
            raise
        if opened.is_gone:
            raise InvalidIdentity(opened.cookie_store_id)

    def _follow(self) -> None:
        if not self._following:
            self._store.subscribe(self._on_change)
            self._following = True

    def _invalidate_all(self) -> None:
        for opened in self._open.values():
            opened.invalidate()

    def _on_change(self, committed: Committed) -> None:
        if committed.topic == RESYNC:
            self._invalidate_all()
            self._time.load_soon()
        elif committed.topic == _CHANGED:
            number, removed, cause, row = _decode(committed.payload)
            cookie = _cookie(row)
            if number in self._open:
                self._open[number].apply_change(cookie, removed=removed, own=committed.call is not None)
            change = CookieChange(cookie_store_id_of(number), cookie, removed, ChangeCause(cause))
            self.on_changed.emit(change, committed.call)
        elif committed.topic == ADVANCED:
            self._time.hear(committed.payload)
        elif committed.topic == _GONE and (opened := self._open.pop(int(committed.payload), None)):
            opened.is_gone = True


class CookieStore:
    """The cookies of one identity, or of none. Each call first takes in what other processes have changed."""

    def __init__(self, store: Store, time: CookieClock, number: int) -> None:
        self.cookie_store_id = cookie_store_id_of(number)
        """The id of the store, and of its identity."""
        self.is_gone = False
        """Whether its identity has been removed."""
        self._store = store
        self._time = time
        self._number = number
        self._rows: Sequence[CookieRow] = ()
        self._filled: Jar | None = None
        self._generation = 1  # how often something made the jar doubtful, that it was never loaded included
        self._loaded_generation = 0  # how many of these doubts the latest load has settled
        self._loads = 0  # those that are under way
        self._changes_during_load: list[tuple[Cookie, bool]] = []  # what was heard while they are
        self._changing = asyncio.Lock()
        self._under_way: Counter[CookieKey] = Counter()  # what we have changed and not yet heard back
        self._flushed = time.now()

    @property
    def is_stale(self) -> bool:
        """Whether the jar may differ from what is on disk, and has to be loaded before its next use."""
        return self._loaded_generation != self._generation

    @property
    def is_loading(self) -> bool:
        """Whether somebody waits for the jar to be loaded."""
        return self._loads > 0

    def invalidate(self) -> None:
        """Load the jar anew before its next use: something has happened of which it has not heard."""
        self._generation += 1
        self._changes_during_load.clear()

    async def load(self) -> None:
        """Load the jar, if it is stale.

        One read is enough, however busy other writers are: what is heard meanwhile is put on top of what was read.
        Some of that may have been read already, which is no harm: the last that is heard of a cookie counts.
        """
        while self.is_stale:
            doubts = self._generation
            self._loads += 1
            try:
                rows = await self._store.read(lambda transaction: _load(transaction, self._number))
                if (
                    self._loaded_generation < doubts == self._generation
                ):  # nobody else has loaded it, and nothing was missed
                    self._begin_with(rows)
            finally:
                self._loads -= 1
                if not self._loads:
                    self._changes_during_load.clear()

    def _begin_with(self, rows: Sequence[CookieRow]) -> None:
        self._filled, self._rows, self._loaded_generation = None, rows, self._generation
        self._under_way.clear()  # what is still to be heard of our own is not in this jar, and is taken in then
        for cookie, removed in self._changes_during_load:
            self._take_in(cookie, removed=removed)

    @property
    def _jar(self) -> Jar:
        """The jar, filled when it is first needed: most stores of a large profile are opened and never asked."""
        if self._filled is None:
            self._filled, self._rows = _jar_of(self._rows), ()
        return self._filled

    async def header(self, url: str | RequestUrl, context: RequestContext = NO_PAGE) -> str:
        """The Cookie header of a request; empty if no cookie goes with it."""
        return (await self.jar()).header(url, self._time.now(), context)

    async def receive(
        self, lines: Iterable[str | bytes], url: str | RequestUrl, context: RequestContext = NO_PAGE
    ) -> None:
        """Take in the Set-Cookie values of a response. When this returns, they are on disk."""
        target, lines = as_target(url), list(lines)
        await self._change(lambda jar, now: jar.store_all(lines, target, now, context), guarded=not target.secure)

    async def set(self, url: str | RequestUrl, **fields: Any) -> list[JarChange]:
        """Store a cookie given by its fields, as Jar.set() takes them; raises CookieRejected with the reason."""
        return await self._change(lambda jar, now: jar.set(url, now, **fields))

    async def remove(self, key: CookieKey) -> list[JarChange]:
        """Take out the cookie with this key, if there is one."""
        return await self._change(lambda jar, _: jar.remove(key))

    async def clear(self, domain: str | None = None) -> list[JarChange]:
        """Take out all cookies, or those of a domain and of everything below it."""
        return await self._change(lambda jar, _: jar.clear(domain))

    async def put(self, cookies: Iterable[Cookie]) -> list[JarChange]:
        """Keep cookies as they are, in the place of those with the same key: what another program has exported."""

        def put(jar: Jar, _: float) -> list[JarChange]:
            changes: list[JarChange] = []
            for cookie in cookies:
                if old := jar.get(cookie.key):
                    changes.append(JarChange(old, True, ChangeCause.OVERWRITE))
                changes.append(JarChange(cookie, False, ChangeCause.EXPLICIT))
            jar.load(change.cookie for change in changes if not change.removed)
            return changes

        return await self._change(put)

    async def cookies(self) -> list[Cookie]:
        """Every cookie that has not expired, oldest first."""
        return (await self.jar()).all(self._time.now())

    async def jar(self) -> Jar:
        """The jar as it is now, to look things up in. Changes made to it directly would not be kept."""
        await self._store.deliver_pending_changes()
        if self.is_stale:
            await self.load()
        if self.is_gone:
            raise InvalidIdentity(self.cookie_store_id)
        return self._jar

    async def flush(self) -> None:
        """Bring to disk when cookies were last used. All else is there when its call resolves."""
        if self._filled is None:
            return
        used = [(each.last_access, _row_key(each.key)) for each in self._jar if each.last_access > self._flushed]
        if used and not self.is_gone:
            self._flushed = self._time.now()
            await self._store.write(lambda transaction: transaction.cookies.touch(self._number, used))

    async def purge(self, *, keep_session_cookies: bool) -> None:
        """Purge cookies that expired long ago and, unless they are to be restored, cookies of earlier sessions."""
        now = min(self._time.now(), self._time.purge_before)
        if keep_session_cookies and all(row[_EXPIRES] is None or row[_EXPIRES] > now for row in self._rows):
            return

        def drop(jar: Jar, now: float) -> list[JarChange]:
            changes = jar.expire(now)
            if not keep_session_cookies:
                for cookie in [each for each in jar if each.expires is None]:
                    changes += jar.remove(cookie.key)
            return changes

        await self._change(drop)

    def apply_change(self, cookie: Cookie, *, removed: bool, own: bool) -> None:
        """Take in a committed change. What this jar did is in it already, and comes after what others did meanwhile.

        An import of this process is `own`, but no jar has done it.
        """
        if self.is_stale:
            if self.is_loading:
                self._changes_during_load.append((cookie, removed))
            return
        key = cookie.key
        if own and key in self._under_way:
            self._under_way[key] -= 1
            if self._under_way[key] <= 0:
                del self._under_way[key]
        elif key not in self._under_way:
            self._take_in(cookie, removed=removed)

    def _take_in(self, cookie: Cookie, *, removed: bool) -> None:
        if removed:
            self._jar.remove(cookie.key)
        else:
            self._jar.load([cookie])

    async def _change(
        self, change: Callable[[Jar, float], list[JarChange]], *, guarded: bool = False
    ) -> list[JarChange]:
        """Change the jar and bring that to disk, one call after the other: who finds nothing left to change has waited
        for those who did it. If the disk refuses, the jar is loaded anew, as it is there.

        Where it is `guarded`, the change is decided anew if another process has set a secure cookie of the same name
        that the jar had not heard of: nothing that is not secure may take its place.
        """
        async with self._changing:
            while changes := change(jar := await self._jar_to_change(), self._time.now()):
                known = _secure_ones(jar, changes) if guarded else None
                try:
                    await asyncio.shield(
                        self._keep(changes, known)
                    )  # a caller that is cancelled stops waiting, no more
                except _WriteConflict:
                    continue
                break
        return changes

    async def _jar_to_change(self) -> Jar:
        jar = await self.jar()
        jar.purge_before, jar.behind = self._time.purge_before, self._time.behind
        return jar

    def _keep(self, changes: list[JarChange], known: Mapping[str, Set[CookieRowKey]] | None) -> asyncio.Future[None]:
        keys = [change.cookie.key for change in changes]
        self._under_way.update(keys)

        def keep(transaction: Transaction) -> None:
            for name, expected in (known or {}).items():
                rows = transaction.cookies.find(self._number, name=name)
                if any(row[_SECURE] and row[:5] not in expected for row in rows):
                    raise _WriteConflict
            write_changes(transaction, self._number, changes)

        kept = self._store.write(keep)

        def forget_if_failed(done: asyncio.Future[None]) -> None:
            if _failed(done):
                self._under_way.subtract(keys)
                self._under_way += Counter()
                self.invalidate()

        kept.add_done_callback(forget_if_failed)
        return kept


class _WriteConflict(Exception):
    """Another process has set a secure cookie that this jar had not heard of when it decided."""


def _secure_ones(jar: Jar, changes: Iterable[JarChange]) -> dict[str, set[CookieRowKey]]:
    """Of each name that is being set, the secure cookies that were taken into account."""
    known: dict[str, set[CookieRowKey]] = {change.cookie.name: set() for change in changes if not change.removed}
    for cookie in (*jar, *(change.cookie for change in changes)):
        if cookie.secure and cookie.name in known:
            known[cookie.name].add(_row_key(cookie.key))
    return known


def _failed(done: asyncio.Future[Any]) -> bool:
    return done.cancelled() or done.exception() is not None


def delete_cookies(transaction: Transaction, number: int) -> None:
    """Drop all cookies of an identity that is being removed, in the same transaction."""
    for row in transaction.cookies.load(number):
        transaction.changes.append(_CHANGED, _encode((number, True, ChangeCause.EXPLICIT, row)))
    transaction.cookies.clear(number)
    transaction.changes.append(_GONE, str(number).encode())


def write_changes(transaction: Transaction, number: int, changes: Iterable[JarChange]) -> None:
    """Bring changes of a store's cookies to the transaction, and tell of them in the order in which they happened."""
    _expect_identity(transaction, number)
    changes = list(changes)
    last = {change.cookie.key: change for change in changes}
    transaction.cookies.delete(number, [_row_key(key) for key, change in last.items() if change.removed])
    transaction.cookies.put(number, [_row(change.cookie) for change in last.values() if not change.removed])
    for cookie, removed, cause in changes:
        transaction.changes.append(_CHANGED, _encode((number, removed, cause, _row(cookie))))


def load_cookies(transaction: Transaction, number: int) -> list[Cookie]:
    """All cookies of a store, expired ones too, in no order."""
    return [_cookie(row) for row in _load(transaction, number)]


def find_cookies(
    transaction: Transaction,
    number: int,
    *,
    name: str | None = None,
    domains: Sequence[str] | None = None,
    below: str | None = None,
) -> list[Cookie]:
    """The cookies of a store with this name, of exactly these domains, or of a domain and of everything below it.

    Expired ones too, in no order.
    """
    return [_cookie(row) for row in transaction.cookies.find(number, name=name, domains=domains, below=below)]


def put_cookie(transaction: Transaction, number: int, cookie: Cookie, now: float) -> None:
    """Keep a cookie that its giver answers for: of the engine's rules, only the limits of a store apply."""
    rows = transaction.cookies.find(number, name=cookie.name, domains=[cookie.domain])
    if _row_key(cookie.key) not in [row[:5] for row in rows]:
        rows += _neighbours(transaction, number, cookie)
    jar = _jar_of(rows)
    jar.purge_before = -inf  # not here: only the whole store is purged
    write_changes(transaction, number, jar.put(cookie, now))


def _neighbours(transaction: Transaction, number: int, cookie: Cookie) -> list[CookieRow]:
    """Those that one more cookie may drive out: none, as long as no limit is reached."""
    table, limits = transaction.cookies, JarLimits()
    in_store = table.count(number)
    if in_store < limits.per_site:
        return []
    if in_store >= limits.per_store:
        return table.load(number)
    site = default_public_suffixes().site(cookie.domain)
    return table.find(number, below=site) if table.count(number, below=site) >= limits.per_site else []


def _end_session(transaction: Transaction, number: int) -> None:
    ended = [cookie for cookie in map(_cookie, transaction.cookies.load(number)) if cookie.expires is None]
    if ended:  # so there is an identity
        write_changes(transaction, number, [JarChange(cookie, True, ChangeCause.EXPLICIT) for cookie in ended])


def _load(transaction: Transaction, number: int) -> list[CookieRow]:
    rows = transaction.cookies.load(number)
    if not rows:  # cookies go with their identity, so where there are some it is there
        _expect_identity(transaction, number)
    return rows


def _expect_identity(transaction: Transaction, number: int) -> None:
    if number and transaction.identities.get(number) is None:
        raise InvalidIdentity(cookie_store_id_of(number))


def _jar_of(rows: Iterable[CookieRow]) -> Jar:
    jar = Jar()
    jar.load(map(_cookie, rows))
    return jar


def _row_key(key: CookieKey) -> CookieRowKey:
    return key.domain, int(key.host_only), key.path, key.name, _partition_text(key.partition)


def _row(cookie: Cookie) -> CookieRow:
    return (
        *_row_key(cookie.key),
        cookie.value,
        int(cookie.secure),
        int(cookie.http_only),
        cookie.same_site.value,
        cookie.expires,
        cookie.sequence,
        cookie.created,
        cookie.last_access,
    )


def _cookie(row: CookieRow) -> Cookie:
    domain, host_only, path, name, partition, value, secure, http_only, same_site, expires, sequence, created, used = (
        row
    )
    return Cookie(
        name=name,
        value=value,
        domain=domain,
        path=path,
        host_only=host_only == 1,
        secure=secure == 1,
        http_only=http_only == 1,
        same_site=_SAME_SITE[same_site],
        expires=expires,
        partition=_partition(partition) if partition else None,
        sequence=sequence,
        created=created,
        last_access=used,
    )


def _partition_text(partition: Partition | None) -> str:
    """`https://site.example`, with a ^ at the end for a cross-site ancestor; empty without a partition."""
    return f"{partition.top_level_site}{'^' if partition.cross_site_ancestor else ''}" if partition else ""


def _partition(text: str) -> Partition | None:
    return Partition(text.removesuffix("^"), text.endswith("^")) if text else None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[int, bool, str, CookieRow]).decode
