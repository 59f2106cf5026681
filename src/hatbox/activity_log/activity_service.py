"""ActivityLog: the service that records what programs do with identities, and finds it again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Final

import msgspec

from hatbox.activity_log.activity_recorder import ActivityRecorder
from hatbox.activity_log.activity_rows import is_recorded, set_recorded
from hatbox.activity_log.entry_budget import Recorded
from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.identity.model import ContextualIdentity, IdentityLike, expect_identity, store_number
from hatbox.javascript.text import well_formed
from hatbox.store.base import Store, Transaction
from hatbox.store.grant_tables import ActivityRow
from hatbox.store.processes import current_process, program_name
from hatbox.urls.hosts import canonical_host
from hatbox.urls.url import parse_url

__all__ = ["ActivityLog", "RecordedAction"]

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}", re.ASCII)
_MAX_TEXT: Final = 100
_MAX_LIMIT: Final = 100_000
_CLOSE_SECONDS: Final = 5.0  # for calls that have not ended


class RecordedAction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry: who did what, with which identity, on which host. No paths, no contents, no values of cookies."""

    at: float
    """In seconds since 1970."""
    grant: str
    """The id of the grant; empty for a program that has the whole profile."""
    program: str
    machine: str
    identity: str | None
    """The cookieStoreId; None if the action concerns no identity."""
    action: str
    host: str
    """Empty if the action concerns no host; `<others>` for a summary of what was too much to be listed."""
    outcome: str
    """ok, refused or failed; sent for a request whose response was not observed, delivered for an event, cancelled for
    a call whose result was not awaited."""
    times: int
    """How often the same was done within a minute, the last time `at`. In a summary, how much it replaces."""


class ActivityLog:
    """The activity log of a profile: the last 30 days, at most 50,000 entries. `pattern_of`: see EntryBudget."""

    def __init__(self, store: Store, pattern_of: Callable[[str, str], str] = lambda _, __: "") -> None:
        self._store = store
        self._recorder = ActivityRecorder(store, pattern_of=pattern_of)
        self._program = well_formed(program_name())[:_MAX_TEXT]
        self._machine = well_formed(current_process().machine)[:_MAX_TEXT]
        self._unfinished: set[asyncio.Future[object]] = set()

    def record(
        self,
        identity: str | None,
        action: str,
        *,
        host: str = "",
        outcome: str = "ok",
        grant: str = "",
        program: str | None = None,
    ) -> None:
        """Record an action, on the event loop of the profile. Returns at once; it is written within a second.

        `identity` is a cookieStoreId, `host` a host or a URL, of which only the host is recorded, `grant` the id of the
        grant. Without a grant, only identities are recorded whose setting is on. `program`: by default this one.
        """
        self._recorder.add(self._recorded(identity, action, host, outcome, grant, program))

    def record_request(self, cookie_store_id: str, host: str) -> None:
        """Record that a client of this process sends a request as an identity whose setting is on."""
        self._recorder.add(self._recorded(cookie_store_id, "fetch", host, "sent", "", None), is_wanted=True)

    def _recorded(
        self, identity: str | None, action: str, host: str, outcome: str, grant: str, program: str | None
    ) -> Recorded:
        for word in (action, outcome):
            if not _WORD.fullmatch(word):
                raise ValueError(f"action and outcome must be words of letters, digits and . _ -, not {word!r}")
        store = None if identity is None else user_context_id_of(identity)
        if identity is not None and store is None:
            raise ValueError(f"identity must be a cookieStoreId or None, not {identity!r}")
        who = self._program if program is None else well_formed(program)[:_MAX_TEXT]
        return Recorded(well_formed(grant)[:_MAX_TEXT], who, self._machine, store, action, _host_of(host), outcome)

    async def query(
        self,
        *,
        identity: IdentityLike | None = None,
        grant: str | None = None,
        since: float | None = None,
        limit: int = 1000,
    ) -> list[RecordedAction]:
        """The latest entries, the newest first: of one identity, of one grant, since a time in seconds since 1970."""
        if type(limit) is not int or not 0 < limit <= _MAX_LIMIT:
            raise ValueError(f"limit must be a whole number from 1 to {_MAX_LIMIT}, not {limit!r}")
        if identity is not None:
            expect_identity(identity)
        await self._recorder.flush()

        def read(transaction: Transaction) -> list[RecordedAction]:
            store = None if identity is None else _store_of(transaction, identity)
            return [_entry(row) for row in transaction.activity.latest(limit, store=store, grant=grant, since=since)]

        return await self._store.read(read)

    def set_recorded(self, identity: IdentityLike, recorded: bool) -> asyncio.Future[None]:
        """Switch the recording of an identity on or off. What grants do is recorded in any case."""
        expect_identity(identity)
        return self._store.write(
            lambda transaction: set_recorded(transaction, _store_of(transaction, identity), recorded=recorded)
        )

    def is_recorded(self, identity: IdentityLike) -> asyncio.Future[bool]:
        """Whether everything that programs do with an identity is recorded."""
        expect_identity(identity)
        return self._store.read(lambda transaction: is_recorded(transaction, _store_of(transaction, identity)))

    async def flush(self) -> None:
        """Write what was recorded by this process."""
        await self._recorder.flush()

    def await_entry(self, work: asyncio.Future[object]) -> None:
        """Wait for a call before the log is closed: its outcome is recorded when it ends."""
        self._unfinished.add(work)
        work.add_done_callback(self._unfinished.discard)

    async def close(self) -> None:
        """Write what was recorded: the profile is being closed."""
        if self._unfinished:
            await asyncio.wait(self._unfinished, timeout=_CLOSE_SECONDS)
        await self._recorder.close()


def _host_of(text: str) -> str:
    """The canonical host of a host or URL; empty for anything else, so that no path or query is stored."""
    parsed = parse_url(text)
    return canonical_host(text) if parsed is None else parsed.host


def _store_of(transaction: Transaction, identity: IdentityLike) -> int:
    """The userContextId. That of an identity in the trash can be given by its cookieStoreId."""
    known = None if isinstance(identity, ContextualIdentity) else user_context_id_of(identity)
    if known and transaction.trash.size(known) is not None:
        return known
    return store_number(transaction, identity)


def _entry(row: ActivityRow) -> RecordedAction:
    return RecordedAction(
        at=row.at,
        grant=row.grant_id,
        program=row.program,
        machine=row.machine,
        identity=None if row.store is None else cookie_store_id_of(row.store),
        action=row.action,
        host=row.host,
        outcome=row.outcome,
        times=row.times,
    )
