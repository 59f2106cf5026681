"""Creates, describes and copies profiles without opening them: each function makes a connection of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from hatbox.errors import ProfileError
from hatbox.store.keys import Key, configured_key
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.direct_session import DirectSession
from hatbox.store.postgres.failures import ConnectionLost, ServerError, to_profile_error, too_new, unavailable
from hatbox.store.postgres.listener import channel_of
from hatbox.store.postgres.nearest_schemas import not_found
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
from hatbox.store.postgres.transaction import BEGIN_READ, COMMIT, LOCK_HEAD
from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
from hatbox.store.profile_info import ProfileInfo
from hatbox.store.tables.dump import dump
from hatbox.store.tables.encrypted_rows import rows_with_cipher
from hatbox.store.tables.fill import fill, require_fillable
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.row_cipher import LogCipher
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import PROFILE, Table
from hatbox.store.tables.summary import summarize

__all__ = ["create", "fill_schema", "info", "opened_dump"]

_NAME: Final = "PostgreSQL"
_SIZE: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8'))"
)


def create(url: str) -> bool:
    """Create the schema and its tables. False if it has a profile already, which is not changed."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        version = format_of(connection, address.schema)
        if version is not None and version < FORMAT:
            return False  # not upgraded here: a program that opens it does that
        return prepare_schema(connection, address.schema, configured_key())


def info(url: str) -> ProfileInfo:
    """Describe the profile in a schema, as of one commit. Raises ProfileError if it has none."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        version = _existing_format(connection, address)
        connection.run([BEGIN_READ])
        summary = summarize(DirectSession(connection).rows) if version == FORMAT else None
        ((size,),) = connection.run([Statement(_SIZE, (address.schema,))])[0]
    return ProfileInfo(
        store=_NAME,
        label=address.label,
        place=f"the schema {address.schema} in {address.label.partition('?')[0]}",
        format=version,
        uuid=summary.uuid if summary else None,
        rows=summary.rows if summary else {},
        extensions=summary.extensions if summary else 0,
        size=size,
        is_encrypted=summary is not None and summary.is_encrypted,
        programs=None,  # a session of the server does not tell which schema it uses
        last_change=summary.last_change if summary else None,
    )


@contextlib.contextmanager
def opened_dump(url: str, key: Key | None = None) -> Iterator[ProfileDump]:
    """The rows of a profile, as of one commit, for a copy. `key`: default is the key that is set."""
    address = PostgresAddress.parse(url)
    with _connected(address) as connection:
        with _mapped_errors(address.label):
            _existing_format(connection, address)
            prepare_schema(connection, address.schema)  # upgrades an earlier format
            connection.run([BEGIN_READ])
            found = dump(address.label, _rows(DirectSession(connection), _key_of(connection, key)))
        # Errors of the target are raised in the body, so they must not be mapped here.
        yield found._replace(batches=_mapped_batches(address.label, found))


def fill_schema(
    url: str, source: CopySource, *, plain: bool, progress: CopyProgress, key: Key | None = None
) -> CopyResult:
    """Write the rows of `source` into a new schema, or into a profile that is unchanged since it was created.

    One transaction creates and fills it, so another program sees all of it or nothing.
    """
    address = PostgresAddress.parse(url)
    with _connected(address) as connection, _mapped_errors(address.label):
        connection.run([Statement("BEGIN ISOLATION LEVEL READ COMMITTED"), lock_schema(address.schema)])
        version = format_of(connection, address.schema)
        if version is None:
            # Without a key it is refused by fill() if the source is encrypted.
            new_key = None if plain else key or configured_key()
            with privilege_errors(connection.label, address.schema):
                connection.run(missing_statements(connection, address.schema, version, new_key))
        _require_format(address, version)
        connection.run([LOCK_HEAD])
        session = DirectSession(connection)
        rows = _rows(session, _key_of(connection, key))
        require_fillable(address.label, rows, source)
        with source.open() as found:
            fill(address.label, rows, session.log, found, plain=plain, progress=progress)
            _commit(connection, address, session)
        return CopyResult(found.label, address.label, version is None, found.rows)


def _key_of(connection: PostgresConnection, key: Key | None) -> Key | None:
    """This key, or the one that is set, if the profile is encrypted: only one of source and target may be."""
    row = DirectSession(connection).rows(PROFILE).get(1)
    return None if row is None or row[1] is None else key or configured_key()


def _rows(session: DirectSession, key: Key | None) -> Callable[[Table], Rows]:
    """Access to the rows of a profile with this key. Raises WrongKey."""
    cipher = cipher_of(session.rows(PROFILE), key, session.label)
    session.log_cipher = LogCipher(cipher, session.label)
    return rows_with_cipher(session.rows, cipher, session.label)


def _require_format(address: PostgresAddress, version: int | None) -> None:
    if version is not None and version > FORMAT:
        raise too_new(address.label, version, FORMAT)
    if version is not None and version < FORMAT:
        problem = f"it has the earlier format {version}, so it is not a new profile"
        raise ProfileError(address.label, problem, "Nothing was copied. Name a profile that is new or does not exist.")


def _commit(connection: PostgresConnection, address: PostgresAddress, session: DirectSession) -> None:
    session.flush()
    try:
        connection.run([COMMIT], then=Statement(f"NOTIFY {quoted(channel_of(address.schema))}"))
    except ConnectionLost as error:
        raise unavailable(address.label, error, uncertain=True) from error


def _existing_format(connection: PostgresConnection, address: PostgresAddress) -> int:
    version = format_of(connection, address.schema)
    if version is None:
        raise not_found(connection, address.schema)
    if version > FORMAT:
        raise too_new(address.label, version, FORMAT)
    return version


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
