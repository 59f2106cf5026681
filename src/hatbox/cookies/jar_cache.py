"""The jar of one cookie store in memory: loaded when first used, kept up to date from the change log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from hatbox.cookies.cookie import Cookie, CookieKey, JarChange
from hatbox.cookies.cookie_clock import CookieClock
from hatbox.cookies.cookie_rows import EXPIRES, SECURE, jar_of, load_rows, row_key, write_changes
from hatbox.cookies.jar import Jar
from hatbox.errors import InvalidIdentity
from hatbox.identities.ids import cookie_store_id_of
from hatbox.store.base import CookieRow, CookieRowKey, Store, Transaction

__all__ = ["JarCache", "failed"]


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
        self._uncommitted: Counter[CookieKey] = Counter()  # own changes whose records have not been received
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
        self._uncommitted.clear()  # own changes that are not in these rows are applied when their records arrive
        for cookie, removed in self._changes_during_load:
            self._apply(cookie, removed=removed)

    @property
    def _jar(self) -> Jar:
        """The jar, filled when first needed: most stores of a large profile are opened and never read."""
        if self._filled is None:
            self._filled, self._rows = jar_of(self._rows), ()
        return self._filled

    async def jar(self) -> Jar:
        """The current jar. Raises InvalidIdentity if the identity was removed."""
        await self._store.deliver_pending_changes()
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

        await self.change(drop)

    def apply_change(self, cookie: Cookie, *, removed: bool, own: bool) -> None:
        """Apply a change record. Own changes are in the jar already, and are newer than those of others before them.

        An import of this process is `own`, but no jar made it.
        """
        if self.is_stale:
            if self.is_loading:
                self._changes_during_load.append((cookie, removed))
            return
        key = cookie.key
        if own and key in self._uncommitted:
            self._uncommitted[key] -= 1
            if self._uncommitted[key] <= 0:
                del self._uncommitted[key]
        elif key not in self._uncommitted:
            self._apply(cookie, removed=removed)

    def _apply(self, cookie: Cookie, *, removed: bool) -> None:
        if removed:
            self._jar.remove(cookie.key)
        else:
            self._jar.load([cookie])

    async def change(
        self, change: Callable[[Jar, float], list[JarChange]], *, keeps_secure_cookies: bool = False
    ) -> list[JarChange]:
        """Change the jar and write the changes, one call after the other. If the write fails, the jar is loaded again.

        With `keeps_secure_cookies`, the change is repeated if another process has set a secure cookie of the same name
        in between: an insecure response must not replace it.
        """
        async with self._writing:
            while changes := change(jar := await self._jar_to_change(), self._clock.now()):
                known = _secure_cookies(jar, changes) if keeps_secure_cookies else None
                try:
                    await asyncio.shield(self._write(changes, known))  # cancelling the caller only stops its waiting
                except _WriteConflict:
                    continue
                break
        return changes

    async def _jar_to_change(self) -> Jar:
        jar = await self.jar()
        jar.purge_before, jar.clock_lag = self._clock.purge_before, self._clock.lag
        return jar

    def _write(self, changes: list[JarChange], known: Mapping[str, Set[CookieRowKey]] | None) -> asyncio.Future[None]:
        keys = [change.cookie.key for change in changes]
        self._uncommitted.update(keys)

        def write(transaction: Transaction) -> None:
            for name, expected in (known or {}).items():
                rows = transaction.cookies.find(self.user_context_id, name=name)
                if any(row[SECURE] and row[:5] not in expected for row in rows):
                    raise _WriteConflict
            write_changes(transaction, self.user_context_id, changes)

        written = self._store.write(write)

        def invalidate_if_failed(done: asyncio.Future[None]) -> None:
            if failed(done):
                self._uncommitted.subtract(keys)
                self._uncommitted += Counter()
                self.invalidate()

        written.add_done_callback(invalidate_if_failed)
        return written


class _WriteConflict(Exception):
    """Another process has set a secure cookie that this jar did not know."""


def _secure_cookies(jar: Jar, changes: Iterable[JarChange]) -> dict[str, set[CookieRowKey]]:
    """The known secure cookies of each name that is being set."""
    known: dict[str, set[CookieRowKey]] = {change.cookie.name: set() for change in changes if not change.removed}
    for cookie in (*jar, *(change.cookie for change in changes)):
        if cookie.secure and cookie.name in known:
            known[cookie.name].add(row_key(cookie.key))
    return known


def failed(done: asyncio.Future[Any]) -> bool:
    """Whether a future was cancelled or raised."""
    return done.cancelled() or done.exception() is not None
