"""The jar of one cookie store in memory: loaded when first used, kept up to date from the change log.

The jar contains what is committed, and nothing else. A change is computed on it, undone, and written. The transaction
reads the rows that the change depends on: if another process has changed them, the change is computed again, on the
rows. The jar gets it from the change log, in commit order, as it gets the changes of other processes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from hatbox.cookies.cookie import Cookie, JarChange
from hatbox.cookies.cookie_clock import CookieClock
from hatbox.cookies.cookie_rows import EXPIRES, expect_identity, jar_of, load_rows, put_changes, row_key, row_of
from hatbox.cookies.jar import Jar
from hatbox.errors import CookieRejected, InvalidIdentity
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import CookieRow, Store, Transaction

__all__ = ["JarCache", "failed"]

JarFunction: TypeAlias = Callable[[Jar, float], list[JarChange]]
"""Changes a jar, and returns the changes. May be called twice, and in another thread."""

_MAX_NAMES: Final = 100  # a change of more names reads the whole store


class JarCache:
    """The jar of one cookie store, and the writes of its changes."""

    def __init__(self, store: Store, clock: CookieClock, user_context_id: int) -> None:
        self.user_context_id = user_context_id
        self.removed = False
        """Whether the identity was removed."""
        self._store = store
        self._clock = clock
        self._rows: Sequence[CookieRow] = ()
        self._filled: Jar | None = None
        self._generation = 1  # incremented by invalidate(); 1 before the first load
        self._loaded_generation = 0
        self._loads = 0
        self._changes_during_load: list[tuple[Cookie, bool]] = []
        self._writing = asyncio.Lock()
        self._flushed = clock.now()

    @property
    def is_stale(self) -> bool:
        """Whether the jar may differ from the profile, and is loaded before its next use."""
        return self._loaded_generation != self._generation

    @property
    def is_loading(self) -> bool:
        """Whether a load is in progress."""
        return self._loads > 0

    def invalidate(self) -> None:
        """Load the jar before its next use: change records were missed."""
        self._generation += 1
        self._changes_during_load.clear()

    async def load(self) -> None:
        """Load the jar, if it is stale.

        One read is enough, however busy other writers are: changes received during the read are applied to its result.
        The read may include some of them, which is harmless: the last change of a cookie counts.
        """
        while self.is_stale:
            generation = self._generation
            self._loads += 1
            try:
                rows = await self._store.read(lambda transaction: load_rows(transaction, self.user_context_id))
                if self._loaded_generation < generation == self._generation:  # not loaded or invalidated meanwhile
                    self._use(rows)
            finally:
                self._loads -= 1
                if not self._loads:
                    self._changes_during_load.clear()

    def _use(self, rows: Sequence[CookieRow]) -> None:
        self._filled, self._rows, self._loaded_generation = None, rows, self._generation
        for cookie, removed in self._changes_during_load:
            self._apply(cookie, removed=removed)

    @property
    def _jar(self) -> Jar:
        """The jar, filled when first needed: most stores of a large profile are opened and never read."""
        if self._filled is None:
            self._filled, self._rows = jar_of(self._rows), ()
        return self._filled

    async def jar(self) -> Jar:
        """The jar as of the latest commit of any process. Raises InvalidIdentity if the identity was removed."""
        while True:
            await self.delivered_jar()
            # After the load, whose result may be newer than the changes that were delivered before it.
            await self._store.deliver_pending_changes()
            if self.removed:
                raise InvalidIdentity(cookie_store_id_of(self.user_context_id))
            if not self.is_stale:
                return self._jar

    async def delivered_jar(self) -> Jar:
        """The jar as of the last delivered change. Raises as jar()."""
        if self.is_stale:
            await self.load()
        if self.removed:
            raise InvalidIdentity(cookie_store_id_of(self.user_context_id))
        return self._jar

    async def flush(self) -> None:
        """Save when cookies were last used."""
        if self._filled is None:
            return
        used = [(each.last_access, row_key(each.key)) for each in self._jar if each.last_access > self._flushed]
        if used and not self.removed:
            self._flushed = self._clock.now()
            await self._store.write(lambda transaction: transaction.cookies.touch(self.user_context_id, used))

    async def purge(self, *, keep_session_cookies: bool) -> None:
        """Purge cookies that expired long ago and, unless they are to be restored, cookies of earlier sessions."""
        now = min(self._clock.now(), self._clock.purge_before)
        if keep_session_cookies and all(row[EXPIRES] is None or row[EXPIRES] > now for row in self._rows):
            return

        def drop(jar: Jar, now: float) -> list[JarChange]:
            changes = jar.expire(now)
            if not keep_session_cookies:
                for cookie in [each for each in jar if each.expires is None]:
                    changes += jar.remove(cookie.key)
            return changes

        await self.change(drop, whole_store=True)

    def apply_change(self, cookie: Cookie, *, removed: bool) -> None:
        """Apply a change record, of this process or another."""
        if not self.is_stale:
            self._apply(cookie, removed=removed)
        elif self.is_loading:
            self._changes_during_load.append((cookie, removed))

    def _apply(self, cookie: Cookie, *, removed: bool) -> None:
        if removed:
            self._jar.remove(cookie.key)
        else:
            self._jar.load([cookie])

    async def change(
        self,
        function: JarFunction,
        *,
        names: Iterable[str] = (),
        domains: Iterable[str] | None = None,
        whole_store: bool = False,
    ) -> list[JarChange]:
        """Change the jar, one call after the other. The changes are durable when this returns.

        The function depends on the cookies that it changes, and on those with these names, of all domains or of
        exactly these. With `whole_store` it depends on all cookies.
        """
        async with self._writing:
            await self.delivered_jar()
            now = self._clock.now()
            try:
                changes = self._compute(function, now)
            except CookieRejected:
                changes = []
            if not changes:  # nothing to write: that must be true of the latest commit too
                await self.jar()
                changes = self._compute(function, now)
            if not changes:
                return []
            if not whole_store:
                names = {*names, *(change.cookie.name for change in changes)}
                if domains is not None:
                    domains = {*domains, *(change.cookie.domain for change in changes)}
                whole_store = len(names) > _MAX_NAMES
            known = None if whole_store else _Known(self._jar, names, domains)
            writing = self._store.write(self._write(function, now, changes, known))
            return await asyncio.shield(writing)  # cancelling the caller only stops its waiting

    def _compute(self, function: JarFunction, now: float) -> list[JarChange]:
        """The changes that the function makes to the jar, which stays as it is."""
        jar = self._jar
        jar.purge_before, jar.clock_lag = self._clock.purge_before, self._clock.lag
        changes = function(jar, now)
        jar.undo(changes)
        return changes

    def _write(
        self, function: JarFunction, now: float, computed: list[JarChange], known: _Known | None
    ) -> Callable[[Transaction], list[JarChange]]:
        purge_before, clock_lag = self._clock.purge_before, self._clock.lag

        def write(transaction: Transaction) -> list[JarChange]:
            store, changes = self.user_context_id, computed
            if known is None or not known.is_current(transaction, store):
                jar = jar_of(load_rows(transaction, store))
                jar.purge_before, jar.clock_lag = purge_before, clock_lag
                changes = function(jar, now)
            put_changes(transaction, store, changes)
            return changes

        return write


class _Known:
    """The cookies of a jar with some names, as they were when a change was computed."""

    def __init__(self, jar: Jar, names: Iterable[str], domains: Iterable[str] | None) -> None:
        self._names = sorted(names)
        self._domains = None if domains is None else sorted(domains)
        self._rows = {row_of(cookie)[:-1] for cookie in jar.named(set(names), self._domains)}

    def is_current(self, transaction: Transaction, store: int) -> bool:
        """Whether the store has the same cookies. When they were last used does not count."""
        rows = transaction.cookies.find(store, names=self._names, domains=self._domains)
        if not rows:  # cookies are deleted with their identity, so a store with cookies has one
            expect_identity(transaction, store)
        return {row[:-1] for row in rows} == self._rows


def failed(done: asyncio.Future[Any]) -> bool:
    """Whether a future was cancelled or raised."""
    return done.cancelled() or done.exception() is not None
