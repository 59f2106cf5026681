"""Grants: the service that Python programs use. Creates, lists, revokes and verifies grants."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from hatbox.errors import GrantNotFound, GrantRefused, InvalidGrant
from hatbox.grants.grant import DEFAULT_ACTIONS, DEFAULT_DURATION, Grant
from hatbox.grants.grant_arguments import (
    MAX_IDENTITIES,
    accepted_actions,
    accepted_expiry,
    accepted_hosts,
    accepted_purpose,
)
from hatbox.grants.grant_cache import EndCallback, GrantCache
from hatbox.grants.grant_rows import (
    find_grants,
    grant_of,
    has_lost_its_process,
    put_grant,
    revoke_grant,
    revoke_grants_of_ended_processes,
)
from hatbox.identity.model import ContextualIdentity, IdentityLike, expect_identity, find, resolve
from hatbox.javascript.text import well_formed
from hatbox.store.base import Store, Transaction
from hatbox.store.grant_tables import GrantRow
from hatbox.store.processes import current_process, program_name

__all__ = ["Grants", "digest_of", "new_token"]

_MAX_GRANTS: Final = 1000
_MAX_READS: Final = 10  # of one verification, while grants are being changed
_PREFIX: Final = "hatbox_"
_TOKEN_BYTES: Final = 32
_TOKEN: Final = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
_ID_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
_ID_LENGTH: Final = 10


class Grants:
    """The grants of a profile. A program with the token of a grant may do what the grant allows, until it ends."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache = GrantCache(store)
        self.check = self._cache.check
        """check(grant_id): the grant, if it is valid now; raises GrantRefused. For each call of a running connection.

        Takes a few microseconds, because it reads a cache. Only for a grant that this process has verified or created.
        """

    def pattern_of(self, grant_id: str, host: str) -> str:
        """The pattern with which a valid grant names a host; empty if it does not. Reads no store."""
        try:
            return self.check(grant_id).pattern_of(host) if grant_id else ""
        except GrantRefused:
            return ""

    async def create(
        self,
        purpose: str = "",
        *,
        identities: IdentityLike | Sequence[IdentityLike],
        hosts: Sequence[str] | None = None,
        actions: Iterable[str] = DEFAULT_ACTIONS,
        duration: float | msgspec.UnsetType | None = msgspec.UNSET,
        until: float | None = None,
        for_process: bool = False,
    ) -> tuple[Grant, str]:
        """Create a grant. Returns it with its token, which is stored nowhere and cannot be read again.

        `hosts` are host names, such as `*.site.example`, or match patterns. `*` or None: all, except those of this
        machine and of private networks, which have to be named; `<all_urls>` includes them. `actions` are names in
        hatbox.grants.grant.ACTIONS; default: fetch. It is valid for `duration` seconds, by default 8 hours, or `until`
        a time in seconds since 1970. With `duration=None` it is valid until it is revoked. With `for_process` it also
        ends with this process, even if that is killed. Raises InvalidGrant, or as Identities.resolve(), and then
        creates nothing.
        """
        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else list(identities)
        for identity in several:
            expect_identity(identity)
        if not 0 < len(several) <= MAX_IDENTITIES:
            raise InvalidGrant("identities", str(len(several)), f"Name 1 to {MAX_IDENTITIES} identities")
        now = self._store.time()
        token = new_token()
        draft = Grant(
            id="",
            purpose=accepted_purpose(purpose),
            identities=(),
            hosts=accepted_hosts(hosts),
            actions=accepted_actions(actions),
            created=now,
            expires=accepted_expiry(_seconds(duration, until, now), now),
            revoked=None,
            program=well_formed(program_name()),
            machine=well_formed(current_process().machine),
            process=current_process() if for_process else None,
        )
        if for_process:
            await self._store.register_process()  # before it exists: processes on other machines would revoke it
        digest = digest_of(token) or b""
        self._cache.subscribe()
        grant = await self._store.write(lambda transaction: _insert(transaction, draft, several, digest))
        with contextlib.suppress(GrantRefused):  # another process may have revoked it already
            await self._verified(digest)
        return grant, token

    async def list(self) -> builtins.list[Grant]:
        """All grants, the first created first. Those that have ended are listed for 30 days."""
        grants, is_current = await self._store.read(_find_grants)
        if is_current:
            return grants
        now = self._store.time()
        await self._store.write(lambda transaction: revoke_grants_of_ended_processes(transaction, now))
        return (await self._store.read(_find_grants))[0]

    def revoke(self, grant_id: str) -> asyncio.Future[Grant]:
        """Revoke a grant: its connections end in every process within a second. Raises GrantNotFound.

        One that was revoked already stays as it is.
        """
        if not isinstance(grant_id, str):
            raise TypeError(f"grant_id must be a string, not {type(grant_id).__name__}")
        now = self._store.time()
        return self._store.write(lambda transaction: revoke_grant(transaction, well_formed(grant_id), now))

    async def verify(self, token: str) -> Grant:
        """The grant of a token, if it is valid now. For a new connection.

        Raises GrantRefused for a token that belongs to no grant, GrantExpired or GrantRevoked.
        """
        digest = digest_of(token)
        if digest is None:
            raise GrantRefused
        return await self._verified(digest)

    async def verify_id(self, grant_id: str) -> Grant:
        """The grant with an id, if it is valid now. For a connection whose client is known without a token.

        Raises GrantRefused, GrantExpired or GrantRevoked.
        """
        row = await self._store.read(lambda transaction: transaction.grants.get(grant_id), single_statement=True)
        if row is None:
            raise GrantRefused
        return await self._verified(row.digest)

    def on_revoked(self, grant_id: str, callback: EndCallback) -> Callable[[], None]:
        """Call `callback` once when a grant is revoked, expires or is deleted, or the profile is closed.

        Only for a grant that this process has verified or created; for others it is called at the next turn of the
        event loop. Returns a function that cancels it.
        """
        self._cache.subscribe()
        return self._cache.watch(grant_id, callback)

    def ended(self, grant_id: str) -> asyncio.Future[None]:
        """A future that is done when on_revoked() would call. Cancel it when the connection ends by itself."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        cancel = self.on_revoked(grant_id, lambda: None if future.done() else future.set_result(None))
        future.add_done_callback(lambda _: cancel())
        return future

    def close(self) -> None:
        """End all connections of grants: the profile is being closed."""
        self._cache.close()

    async def _verified(self, digest: bytes) -> Grant:
        self._cache.subscribe()
        for _ in range(_MAX_READS):
            generation = self._cache.generation
            row = await self._store.read(_with_digest(digest), single_statement=True)
            if row is not None and _may_have_lost_its_process(row):
                row = await self._store.write(_revoked_if_lost(row, self._store.time()))
            if generation == self._cache.generation:
                break
        else:
            raise GrantRefused  # grants are changed all the time
        if row is None or not hmac.compare_digest(row.digest, digest):
            raise GrantRefused
        grant = grant_of(row)
        self._cache.add(grant)
        return self._cache.check(grant.id)


def _with_digest(digest: bytes) -> Callable[[Transaction], GrantRow | None]:
    return lambda transaction: transaction.grants.with_digest(digest)


def _find_grants(transaction: Transaction) -> tuple[list[Grant], bool]:
    """All grants, and whether none has to be revoked because its process has ended."""
    grants = find_grants(transaction)
    return grants, not any(has_lost_its_process(transaction, each) for each in grants)


def _may_have_lost_its_process(row: GrantRow) -> bool:
    """Whether the process with which a grant ends is not a running one of this machine."""
    process = grant_of(row).process
    return row.revoked is None and process is not None and not (process.is_local and process.is_running)


def _revoked_if_lost(row: GrantRow, now: float) -> Callable[[Transaction], GrantRow | None]:
    def revoke(transaction: Transaction) -> GrantRow | None:
        if has_lost_its_process(transaction, grant_of(row)):
            with contextlib.suppress(GrantNotFound):
                revoke_grant(transaction, row.id, now)
        return transaction.grants.get(row.id)

    return revoke


def _seconds(duration: float | msgspec.UnsetType | None, until: float | None, now: float) -> float | None:
    if until is not None:
        if not isinstance(duration, msgspec.UnsetType):
            raise TypeError("specify one of duration and until")
        if isinstance(until, bool) or not isinstance(until, (int, float)):
            raise TypeError(f"until must be a time in seconds since 1970, not {until!r}")
        return until - now
    return DEFAULT_DURATION if isinstance(duration, msgspec.UnsetType) else duration


def _insert(transaction: Transaction, draft: Grant, identities: Sequence[IdentityLike], digest: bytes) -> Grant:
    """Store a new grant, with a new id."""
    if draft.process is not None:
        revoke_grants_of_ended_processes(transaction, draft.created)
    found = [
        resolve(transaction, each) if isinstance(each, ContextualIdentity) else find(transaction, each)
        for each in identities
    ]
    if transaction.grants.count() >= _MAX_GRANTS:
        ended = transaction.grants.ended_before(draft.created)
        if not ended:
            raise InvalidGrant("grant", "one more", f"The profile has {_MAX_GRANTS} valid grants. Revoke some first")
        transaction.grants.delete(ended[:1])
    grant_id = _new_grant_id()
    while transaction.grants.get(grant_id) is not None:
        grant_id = _new_grant_id()
    stores = tuple(dict.fromkeys(each.cookie_store_id for each in found))
    grant = msgspec.structs.replace(draft, id=grant_id, identities=stores)
    put_grant(transaction, grant, digest)
    return grant


def new_token() -> str:
    """A new token, which nothing stores.

    The profile stores only its SHA-256.
    """
    return _PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)


def digest_of(token: object) -> bytes | None:
    """The SHA-256 of a token; None for what has not the form of one."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    return hashlib.sha256(token.encode("ascii")).digest()


def _new_grant_id() -> str:
    """A new id. Random, because the activity log names a grant after it was deleted."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
