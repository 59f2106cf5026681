"""Creates, describes and copies profiles without opening them: each function makes a connection of its own."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from hatbox.errors import ProfileError
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.failures import ConnectionLost, ServerError, to_profile_error, too_new, unavailable
from hatbox.store.postgres.listener import channel_of
from hatbox.store.postgres.rows import PostgresRows
from hatbox.store.postgres.schema import (
    FORMAT,
    format_of,
    lock_schema,
    missing_statements,
    prepare_schema,
    privilege_errors,
)
from hatbox.store.postgres.setup import connect
from hatbox.store.postgres.sql import quoted
from hatbox.store.postgres.transaction import BEGIN_READ, COMMIT, LOCK_HEAD, insert_change
from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
from hatbox.store.profile_info import ProfileInfo
from hatbox.store.tables.dump import dump
from hatbox.store.tables.fill import fill, require_fillable
from hatbox.store.tables.schema import Table
from hatbox.store.tables.summary import summarize

__all__ = ["create", "fill_schema", "info", "opened_dump"]

_NAME: Final = "PostgreSQL"
_SIZE: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8'))"
)
_MAX_QUEUED: Final = 1000  # statements of a pipeline
_MAX_QUEUED_BYTES: Final = 2**20  # of their values


def create(url: str) -> bool:
    """Create the schema and its tables. False if it has a profile of the current format, which is not changed."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        return prepare_schema(connection, address.schema)


def info(url: str) -> ProfileInfo:
    """Describe the profile in a schema, as of one commit. Raises ProfileError if it has none."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        version = _existing_format(connection, address)
        connection.run([BEGIN_READ])
        summary = summarize(partial(PostgresRows, _CopySession(connection)))
        ((size,),) = connection.run([Statement(_SIZE, (address.schema,))])[0]
    return ProfileInfo(
        store=_NAME,
        label=address.label,
        place=f"the schema {address.schema} in {address.label.partition('?')[0]}",
        format=version,
        uuid=summary.uuid,
        rows=summary.rows,
        extensions=summary.extensions,
        size=size,
        is_encrypted=summary.is_encrypted,
        programs=None,  # a session of the server does not tell which schema it uses
        last_change=summary.last_change,
    )


@contextlib.contextmanager
def opened_dump(url: str) -> Iterator[ProfileDump]:
    """The rows of a profile, as of one commit, for a copy."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection:
        with _mapped_errors(address.label):
            _existing_format(connection, address)
            prepare_schema(connection, address.schema)  # upgrades an earlier format
            connection.run([BEGIN_READ])
            found = dump(address.label, partial(PostgresRows, _CopySession(connection)))
        # Errors of the target are raised in the body, so they must not be mapped here.
        yield found._replace(batches=_mapped_batches(address.label, found))


def fill_schema(url: str, source: CopySource, *, plain: bool, progress: CopyProgress) -> CopyResult:
    """Write the rows of `source` into a new schema, or into a profile that is unchanged since it was created.

    One transaction creates and fills it, so another program sees all of it or nothing.
    """
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        connection.run([Statement("BEGIN ISOLATION LEVEL READ COMMITTED"), lock_schema(address.schema)])
        version = format_of(connection, address.schema)
        if version is None:
            with privilege_errors(connection.label, address.schema):
                connection.run(missing_statements(connection, address.schema, version))
        _require_format(address, version)
        connection.run([LOCK_HEAD])
        session = _CopySession(connection)
        rows = partial(PostgresRows, session)
        require_fillable(address.label, rows, source)
        with source.open() as found:
            fill(address.label, rows, session.log, found, plain=plain, progress=progress)
            _commit(connection, address, session)
        return CopyResult(found.label, address.label, version is None, found.rows)


def _require_format(address: PostgresAddress, version: int | None) -> None:
    if version is not None and version > FORMAT:
        raise too_new(address.label, version, FORMAT)
    if version is not None and version < FORMAT:
        problem = f"it has the earlier format {version}, so it is not a new profile"
        raise ProfileError(address.label, problem, "Nothing was copied. Name a profile that is new or does not exist.")


def _commit(connection: PostgresConnection, address: PostgresAddress, session: _CopySession) -> None:
    session.flush()
    try:
        connection.run([COMMIT], then=Statement(f"NOTIFY {quoted(channel_of(address.schema))}"))
    except ConnectionLost as error:
        raise unavailable(address.label, error, uncertain=True) from error


def _existing_format(connection: PostgresConnection, address: PostgresAddress) -> int:
    version = format_of(connection, address.schema)
    if version is None:
        problem = f"no profile exists there: the schema {address.schema} has none"
        raise ProfileError(address.label, problem, "Create it with: hatbox profile create ADDRESS")
    if version > FORMAT:
        raise too_new(address.label, version, FORMAT)
    return version


class _CopySession:
    """SqlSession in a transaction that the caller has started. Bounds the statements that wait for a trip."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._queued: list[Statement] = []
        self._bytes = 0

    def ask(self, statement: Statement) -> Result:
        self.flush()
        return self._connection.run([statement])[0]

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        receive(self.ask(statement))

    def queue(self, statement: Statement) -> None:
        self._queued.append(statement)
        self._bytes += sum(len(value) for value in statement.values if isinstance(value, (str, bytes)))
        if len(self._queued) >= _MAX_QUEUED or self._bytes > _MAX_QUEUED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send the statements that were queued."""
        queued, self._queued, self._bytes = self._queued, [], 0
        if queued:
            self._connection.run(queued)

    def log(self, sequence: int, logged: int, changes: bytes) -> None:
        """Write a row of the change log."""
        self.queue(insert_change(sequence, uuid.uuid4().bytes, logged, changes))


@contextlib.contextmanager
def _connected(address: PostgresAddress) -> Iterator[PostgresConnection]:
    with _mapped_errors(address.label):
        connection = connect(address)
    try:
        yield connection
    finally:
        connection.close()  # a transaction that was not committed ends with it


@contextlib.contextmanager
def _mapped_errors(label: str) -> Iterator[None]:
    try:
        yield
    except ConnectionLost as error:
        raise unavailable(label, error) from error
    except ServerError as error:
        raise to_profile_error(label, error) from error


def _mapped_batches(label: str, found: ProfileDump) -> Iterator[tuple[Table, list[tuple[Any, ...]]]]:
    while True:
        with _mapped_errors(label):
            batch = next(found.batches, None)
        if batch is None:
            return
        yield batch
