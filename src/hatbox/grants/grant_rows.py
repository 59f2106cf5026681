"""Grants in the profile, as transaction functions.

A row that cannot be decoded becomes a grant that allows nothing: it is listed, and can be revoked. Every change appends
GRANT_CHANGED to the change log, from which running connections learn that their grant has ended.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.errors import GrantNotFound
from hatbox.grants.grant import Grant
from hatbox.store.base import Transaction
from hatbox.store.grant_tables import GrantRow
from hatbox.store.processes import ProcessId

__all__ = [
    "GRANT_CHANGED",
    "GrantChange",
    "decode_grant_change",
    "find_grants",
    "grant_of",
    "grant_row",
    "has_lost_its_process",
    "put_grant",
    "remove_identity_from_grants",
    "revoke_grant",
    "revoke_grants_of_ended_processes",
]

GRANT_CHANGED: Final = "grants.changed"
"""The topic of a change. Its payload is a GrantChange."""

_UNREADABLE: Final = "(unreadable)"


class GrantChange(msgspec.Struct, frozen=True):
    """What may change in a grant: it loses identities, or is revoked."""

    id: str
    identities: tuple[str, ...]
    revoked: float | None


class _Allowed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The column `data`."""

    purpose: str
    identities: tuple[str, ...]
    hosts: tuple[str, ...] | None
    actions: frozenset[str]
    process: ProcessId | None = None


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(_Allowed).decode
decode_grant_change = msgspec.json.Decoder(GrantChange).decode


def grant_row(grant: Grant, digest: bytes) -> GrantRow:
    """The row of a grant. `digest` is the SHA-256 of its token."""
    data = _encode(_Allowed(grant.purpose, grant.identities, grant.hosts, grant.actions, grant.process))
    fields = (grant.id, digest, grant.created, grant.expires, grant.revoked, grant.program, grant.machine, data)
    return GrantRow._make(fields)


def grant_of(row: GrantRow) -> Grant:
    """The grant in a row."""
    try:
        allowed = _decode(row.data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        allowed = _Allowed(_UNREADABLE, (), (), frozenset())
    return Grant(
        id=row.id,
        purpose=allowed.purpose,
        identities=allowed.identities,
        hosts=allowed.hosts,
        actions=allowed.actions,
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
        program=row.program,
        machine=row.machine,
        process=allowed.process,
    )


def find_grants(transaction: Transaction) -> list[Grant]:
    """All grants, the first created first."""
    return [grant_of(row) for row in transaction.grants.find()]


def put_grant(transaction: Transaction, grant: Grant, digest: bytes) -> None:
    """Store a grant, and append the change."""
    transaction.grants.put(grant_row(grant, digest))
    change = GrantChange(grant.id, grant.identities, grant.revoked)
    transaction.changes.append(GRANT_CHANGED, msgspec.json.encode(change))


def revoke_grant(transaction: Transaction, grant_id: str, now: float) -> Grant:
    """Revoke a grant. One that was revoked already is returned as it is. Raises GrantNotFound."""
    row = transaction.grants.get(grant_id)
    if row is None:
        raise GrantNotFound(grant_id)
    if row.revoked is None:
        row = row._replace(revoked=now)
        transaction.grants.put(row)
        _append(transaction, row)
    return grant_of(row)


def revoke_grants_of_ended_processes(transaction: Transaction, now: float) -> None:
    """Revoke the grants that end with a process, if it has ended without doing so: it was killed."""
    for grant in find_grants(transaction):
        if has_lost_its_process(transaction, grant):
            revoke_grant(transaction, grant.id, now)


def has_lost_its_process(transaction: Transaction, grant: Grant) -> bool:
    """Whether a grant is not revoked, but the process with which it ends is not running."""
    process = grant.process
    return process is not None and grant.revoked is None and not transaction.processes.is_running(process)


def remove_identity_from_grants(transaction: Transaction, cookie_store_id: str) -> None:
    """Take an identity that is being removed out of all valid grants. A grant without any other is revoked."""
    quoted = msgspec.json.encode(cookie_store_id)
    for row in transaction.grants.find():
        if row.revoked is not None or quoted not in row.data:
            continue
        grant = grant_of(row)
        left = tuple(each for each in grant.identities if each != cookie_store_id)
        if left == grant.identities:
            continue
        revoked = None if left else transaction.time()
        put_grant(transaction, msgspec.structs.replace(grant, identities=left, revoked=revoked), row.digest)


def _append(transaction: Transaction, row: GrantRow) -> None:
    change = GrantChange(row.id, grant_of(row).identities, row.revoked)
    transaction.changes.append(GRANT_CHANGED, msgspec.json.encode(change))
