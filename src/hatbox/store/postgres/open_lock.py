"""The advisory lock of a profile on a server: shared by every program that has it open, exclusive to change all of it.

Programs of earlier versions have it too. No lease has its name.
"""

from __future__ import annotations

import time
from typing import Final

from hatbox.errors import ProfileLocked
from hatbox.store.postgres.connection import PostgresConnection, Statement

__all__ = ["is_locked_by_others", "lock_alone", "lock_shared"]

_KEY: Final = "hashtextextended(encode($1, 'hex'), 0)"
_LOCK_SHARED: Final = f"SELECT pg_try_advisory_lock_shared({_KEY})"
_LOCK_ALONE: Final = f"SELECT pg_try_advisory_lock({_KEY})"
_LOCK_ALONE_IN_TRANSACTION: Final = f"SELECT pg_try_advisory_xact_lock({_KEY})"
# What an administrator sees too. The address of a session of another role may be hidden.
_SESSIONS: Final = (
    "SELECT convert_to(coalesce(usename, '?') || ' from ' "
    "|| coalesce(host(client_addr), 'a local or hidden address'), 'UTF8'), "
    "string_agg(pid::text, ', ' ORDER BY pid)::bytea FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid() "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    f"AND (classid::int8 << 32 | objid::int8) = {_KEY} GROUP BY 1 ORDER BY 1"
)
_RELEASE_SECONDS: Final = 1.0  # the server releases the locks of a connection some time after its end
_INTERVAL: Final = 0.02  # seconds between attempts


def lock_shared(connection: PostgresConnection, schema: str) -> bool:
    """Lock a profile as one of the programs that have it open. False while another program changes all of it."""
    return _is_locked(connection, _LOCK_SHARED, schema)


def is_locked_by_others(connection: PostgresConnection, schema: str) -> bool:
    """Whether a program has a profile open, by the lock itself."""
    ((is_locked,),) = connection.run([Statement(_LOCK_ALONE_IN_TRANSACTION, (_name(schema),))])[0]
    return not is_locked


def lock_alone(connection: PostgresConnection, schema: str, problem: str, *, in_transaction: bool = False) -> None:
    """Lock a profile until the connection ends, or the transaction. Raises ProfileLocked, which names who has it open.

    `problem` says what needs the lock.
    """
    query = _LOCK_ALONE_IN_TRANSACTION if in_transaction else _LOCK_ALONE
    if not _is_locked(connection, query, schema):
        found = connection.run([Statement(_SESSIONS, (_name(schema),))])[0]
        programs = "; ".join(f"{_text(place)} (sessions {_text(pids)} of the server)" for place, pids in found)
        remedy = "Nothing was changed. End those programs, then try again."
        raise ProfileLocked(connection.label, f"{problem}. These have it open: {programs or 'unknown'}", remedy)


def _is_locked(connection: PostgresConnection, query: str, schema: str) -> bool:
    """Try to get a lock, until programs that have just ended must have lost theirs."""
    deadline = time.monotonic() + _RELEASE_SECONDS
    while True:
        ((is_locked,),) = connection.run([Statement(query, (_name(schema),))])[0]
        if is_locked or time.monotonic() > deadline:
            return bool(is_locked)
        time.sleep(_INTERVAL)


def _name(schema: str) -> str:
    return f"hatbox\0{schema}\0\0open"


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
