"""The settings of a new connection, and the check that it is a session of its own."""

from __future__ import annotations

from typing import Final

from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ConnectionLost, pooler_refused
from hatbox.store.postgres.sql import quoted

__all__ = ["connect"]

_DURABLE: Final = ("on", "remote_apply", "remote_write")
# A client whose machine has vanished keeps its locks until the server notices: by default after two hours. Longer than
# the client needs to notice it (see address.py), so that it has stopped its engine when its lease is given away.
_KEEPALIVES: Final = {
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
    "tcp_user_timeout": "40000",
}
# A process that was stopped in the middle of a transaction must not block all others for ever.
_IDLE_IN_TRANSACTION: Final = {"idle_in_transaction_session_timeout": "60s"}
_IDLE: Final = {"idle_session_timeout": "0"}  # since version 14; a session that has a lease is idle for days
_LOCK_TIMEOUT: Final = (  # longer than those above; an administrator's own limit is kept
    "SELECT set_config('lock_timeout', '90s', false) WHERE current_setting('lock_timeout') = '0'"
)
_POOLER_SECONDS: Final = 5.0  # how long a pooler may take to answer


def connect(address: PostgresAddress) -> PostgresConnection:
    """A new connection, prepared for transactions. Raises ConnectionLost, also if it is not a session of its own."""
    connection = PostgresConnection(address)
    try:
        _configure(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: PostgresConnection, address: PostgresAddress) -> None:
    values = {**_KEEPALIVES, **_IDLE_IN_TRANSACTION, **(_IDLE if connection.server_version >= 140000 else {})}
    settings = [Statement(f"SET {name} = '{value}'") for name, value in values.items()]
    results = connection.run(
        [
            # pg_catalog, which is not named here, comes first: nobody can replace a built-in function.
            Statement(f"SET search_path TO {quoted(address.schema)}"),
            *settings,
            Statement(_LOCK_TIMEOUT),
            Statement("SELECT pg_backend_pid(), current_setting('synchronous_commit')"),
        ]
    )
    ((backend_pid, synchronous_commit),) = results[-1]
    if backend_pid != connection.backend_pid:
        _refuse_pooler(connection, address, backend_pid)
    if synchronous_commit not in _DURABLE:
        connection.run([Statement("SET synchronous_commit = on")])  # success is reported for durable commits only


def _refuse_pooler(connection: PostgresConnection, address: PostgresAddress, backend_pid: int) -> None:
    """A pooler in transaction mode gives each transaction another session. One in session mode is no problem."""
    other = PostgresConnection(address)
    connection.answer_seconds = other.answer_seconds = _POOLER_SECONDS
    try:
        # In transaction mode it gets the session that the first one had, if that is free.
        if _backend_pid(other, Statement("BEGIN")) == backend_pid or _backend_pid(connection) != backend_pid:
            raise pooler_refused()
    finally:
        other.close()
        connection.answer_seconds = None


def _backend_pid(connection: PostgresConnection, *before: Statement) -> int:
    try:
        ((pid,),) = connection.run([*before, Statement("SELECT pg_backend_pid()")])[-1]
    except ConnectionLost as error:
        if error.permanent:
            raise
        reason = f"a pooler is between this program and the server, and it has no free session ({error})"
        raise ConnectionLost(reason, remedy="Use pool_mode = session, with 4 sessions for each process.") from None
    return int(pid)
