"""The contract of the tables of grants and of the activity log."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, Protocol

__all__ = ["RECORD_SECONDS", "ActivityRow", "ActivityTable", "GrantRow", "GrantTable"]

RECORD_SECONDS: Final = 30 * 86_400.0
"""How long an entry of the activity log stays, and a grant after its end."""


class GrantRow(NamedTuple):
    """A grant. The token itself is not stored."""

    id: str
    digest: bytes
    """The SHA-256 of the token."""
    created: float
    """In seconds since 1970, as all times here."""
    expires: float | None
    """None: valid until it is revoked."""
    revoked: float | None
    program: str
    """The program that created it."""
    machine: str
    data: bytes
    """What it allows, as hatbox.grants.grant_rows encodes it."""


class ActivityRow(NamedTuple):
    """An entry of the activity log."""

    id: int
    at: float
    """In seconds since 1970."""
    grant_id: str
    """The grant; empty for a program that has the whole profile."""
    program: str
    machine: str
    store: int | None
    """The userContextId of the identity; None if the action concerns no identity."""
    action: str
    host: str
    outcome: str
    times: int
    """How often the same was done within a minute, until `at`. Of a summary, the number of all that it replaces."""


class GrantTable(Protocol):
    """The grants: capabilities that were given to programs."""

    def prefetch(self) -> None:
        """Announce a call of `find`. See Transaction.load."""

    def get(self, grant: str) -> GrantRow | None:
        """The grant with this id, or None."""

    def with_digest(self, digest: bytes) -> GrantRow | None:
        """The grant with this hash of its token, or None."""

    def find(self) -> list[GrantRow]:
        """All grants, the first created first."""

    def count(self) -> int:
        """The number of grants."""

    def ended_before(self, time: float) -> list[str]:
        """The ids of grants that were revoked, or expired, before a time, the first ended first."""

    def put(self, row: GrantRow) -> None:
        """Store a grant. It replaces the one with this id."""

    def delete(self, grants: Collection[str]) -> None:
        """Delete grants."""


class ActivityTable(Protocol):
    """The activity log: what programs did with identities."""

    def latest(
        self,
        limit: int,
        *,
        store: int | None = None,
        grant: str | None = None,
        since: float | None = None,
    ) -> list[ActivityRow]:
        """The last entries, by `at`, the newest first: of an identity, of a grant, at a time or later."""

    def earlier(self, limit: int, before: int | None = None) -> list[ActivityRow]:
        """The last entries whose id is below this one, by id, the newest first."""

    def insert(self, rows: Iterable[ActivityRow]) -> list[ActivityRow]:
        """Add entries. Their ids are replaced by new ones: returns the rows as they are stored."""

    def put(self, rows: Iterable[ActivityRow]) -> None:
        """Write entries. They replace those with the same id."""

    def count(self) -> int:
        """The number of entries."""

    def sizes(self) -> list[tuple[str, int | None, int]]:
        """The numbers of entries by grant and identity: grant, store, number."""

    def oldest(self, grant: str, store: int | None, number: int) -> list[ActivityRow]:
        """The oldest entries of a grant in an identity, the first one first."""

    def delete_oldest(self, grant: str, store: int | None, number: int) -> None:
        """Delete the oldest entries of a grant in an identity."""

    def has_older(self, time: float) -> bool:
        """Whether an entry is older than a time."""

    def delete_older(self, time: float) -> None:
        """Delete the entries before a time."""

    def clear(self, store: int) -> None:
        """Delete the entries of an identity."""
