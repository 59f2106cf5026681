"""The settings of a new connection, and the check that it is a session of its own."""

from __future__ import annotations

from typing import Final

from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ConnectionLost
from hatbox.store.postgres.sql import quoted

__all__ = ["configure"]

_DURABLE: Final = ("on", "remote_apply", "remote_write")


def configure(connection: PostgresConnection, address: PostgresAddress) -> None:
    """Prepare a connection for transactions. Raises ConnectionLost if it does not lead to a session of its own."""
    results = connection.run(
        [
            Statement(f"SET search_path TO {quoted(address.schema)}, pg_catalog"),
            # A process that was stopped in the middle of a transaction must not block all others for ever.
            Statement("SET idle_in_transaction_session_timeout = '60s'"),
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
    try:
        other.run(
            [Statement("BEGIN"), Statement("SELECT 1")]
        )  # takes the session that the first one had, if it is free
        ((now,),) = connection.run([Statement("SELECT pg_backend_pid()")])[0]
        if now != backend_pid:
            raise ConnectionLost(
                "there is a pooler in transaction mode in between, which gives each transaction another session. "
                "Connect to the server itself, or use pool_mode = session",
                permanent=True,
            )
    finally:
        other.close()
