"""The tables of a profile in PostgreSQL: created in a schema of their own, and upgraded by numbered migrations."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hatbox.errors import NotAProfile, ProfileError
from hatbox.store.keys import Key
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ServerError, to_profile_error, too_new
from hatbox.store.postgres.sql import quoted
from hatbox.store.tables.new_profile import NEW_HEAD, NEW_IDENTITIES
from hatbox.store.tables.profile_row import new_profile_row
from hatbox.store.tables.schema import CHANGES, TABLES, Table

__all__ = [
    "FORMAT",
    "format_of",
    "lock_schema",
    "missing_statements",
    "prepare_schema",
    "privilege_errors",
    "unique_columns",
]

FORMAT: Final = 1
"""The number of the current format: that of the last migration."""

_UNIQUE: Final = {
    "cookies": "store, domain, host_only, sha256(path), sha256(name), sha256(partition)",
    "site_data": "store, sha256(origin)",
}
_TYPES: Final = {"integer": "int8", "text": "bytea", "real": "float8", "blob": "bytea"}
_INDEXES: Final = (
    "CREATE INDEX identities_by_position ON identities (position)",
    "CREATE INDEX identities_by_name ON identities USING hash (name)",
    'CREATE INDEX tabs_by_window ON tabs ("window", position)',
    'CREATE INDEX tabs_by_store ON tabs (store, "window", position)',
    'CREATE INDEX tabs_by_visibility ON tabs ("window", hidden, position)',
    'CREATE INDEX tabs_by_access ON tabs ("window", hidden, last_accessed DESC, position)',
    'CREATE INDEX tabs_active ON tabs ("window") WHERE active = 1',
    'CREATE INDEX tabs_related ON tabs ("window") WHERE related IS NOT NULL',
    "CREATE INDEX tabs_by_opener ON tabs (opener) WHERE opener IS NOT NULL",
    "CREATE INDEX tabs_by_successor ON tabs (successor) WHERE successor IS NOT NULL",
    "CREATE INDEX windows_by_focus ON windows (focused DESC, id)",
    "CREATE INDEX extension_data_by_kind ON extension_data (kind, extension, sequence)",
    "CREATE INDEX extension_data_by_key ON extension_data USING hash (key)",
    "CREATE UNIQUE INDEX changes_by_token ON changes (token)",
)

# Who has a lease, to be named in messages. An advisory lock of the holder's session decides whether it still has it.
_LEASES: Final = (
    "CREATE TABLE leases (name bytea PRIMARY KEY, purpose bytea NOT NULL, host bytea NOT NULL, "
    "process int8 NOT NULL, started_at bytea NOT NULL)"
)


def unique_columns(table: Table) -> str:
    """The columns of the unique index of a table. Long texts are hashed: PostgreSQL limits a key to 2,700 bytes."""
    return _UNIQUE.get(table.name) or ", ".join(quoted(column) for column in table.key)


def format_of(connection: PostgresConnection, schema: str) -> int | None:
    """The format of the profile in a schema; None if the schema has no profile."""
    query = (
        "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')), "
        "EXISTS (SELECT FROM pg_tables WHERE schemaname = convert_from($1, 'UTF8')), "
        "EXISTS (SELECT FROM pg_tables WHERE schemaname = convert_from($1, 'UTF8') AND tablename = 'head')"
    )
    ((_, has_tables, has_head),) = connection.run([Statement(query, (schema,))])[0]
    if not has_head:
        if has_tables:
            problem = f"the schema {schema} has other tables"
            raise NotAProfile(connection.label, problem, "It was left as it is. Name another with ?schema=NAME.")
        return None
    rows = connection.run([Statement(f"SELECT format FROM {quoted(schema)}.head")])[0]
    if len(rows) != 1:
        raise to_profile_error(connection.label, ServerError("XX001", "the table head must have one row"))
    return int(rows[0][0])


def prepare_schema(connection: PostgresConnection, schema: str, key: Key | None = None) -> bool:
    """Create the profile if it does not exist, upgrade it if it is older. Returns whether it was created.

    With a key, a new profile is encrypted.
    """
    version = format_of(connection, schema)
    if version == FORMAT:
        return False
    if version is not None and version > FORMAT:
        raise too_new(connection.label, version, FORMAT)
    if version is not None:
        return _create_or_upgrade(connection, schema, key)
    with privilege_errors(connection.label, schema):
        return _create_or_upgrade(connection, schema, key)


@contextmanager
def privilege_errors(label: str, schema: str) -> Iterator[None]:
    """Raise ProfileError for a role that may not create a profile."""
    try:
        yield
    except ServerError as error:
        if error.code != "42501":
            raise
        raise ProfileError(
            label,
            f"there is no profile in the schema {schema}, and this role may not create one ({error})",
            "Create it with a role that may: hatbox profile create ADDRESS.",
        ) from None


def lock_schema(schema: str) -> Statement:
    """Makes transactions that create or upgrade a schema wait for each other."""
    return Statement("SELECT pg_advisory_xact_lock(hashtextextended(convert_from($1, 'UTF8'), 0))::text", (schema,))


def _create_or_upgrade(connection: PostgresConnection, schema: str, key: Key | None) -> bool:
    """Run all missing migrations in one transaction. Processes that try it at the same time wait for each other."""
    connection.run([Statement("BEGIN")])
    try:
        connection.run([lock_schema(schema)])
        version = format_of(connection, schema)
        if version is not None and version >= FORMAT:
            connection.run([Statement("ROLLBACK")])
            return False
        connection.run([*missing_statements(connection, schema, version, key), Statement("COMMIT")])
        return version is None
    except ServerError:
        connection.run([Statement("ROLLBACK")])
        raise


def missing_statements(
    connection: PostgresConnection, schema: str, version: int | None, key: Key | None = None
) -> list[Statement]:
    """The statements that create a profile, encrypted if a key is given, or upgrade it to the current format.

    For one transaction.
    """
    statements = []
    if version is None:
        # Not IF NOT EXISTS for an existing schema: that needs the privilege to create one.
        exists = Statement("SELECT FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')", (schema,))
        if not connection.run([exists])[0]:
            statements.append(Statement(f"CREATE SCHEMA {quoted(schema)}"))
    statements.append(Statement(f"SET LOCAL search_path TO {quoted(schema)}"))
    for migration in _MIGRATIONS[version or 0 :]:
        statements += migration()
    statements.append(Statement("UPDATE head SET format = $1", (FORMAT,)))
    if version is None:
        statements.append(Statement("UPDATE profile SET uuid = $1, key_check = $2, id = $3", new_profile_row(key)))
    return statements


def _create_statement(table: Table) -> str:
    columns = [
        f"{quoted(name)} {_TYPES[kind]}" + ("" if name in table.nullable else " NOT NULL")
        for name, kind in zip(table.columns, table.types, strict=True)
    ]
    if table is CHANGES:
        columns.append("token bytea NOT NULL")
    if table.name == "head":
        columns.append("format int8 NOT NULL CHECK (id = 1)")
    return f"CREATE TABLE {table.name} ({', '.join(columns)})"


def _first_migration() -> list[Statement]:
    statements = [Statement(_create_statement(table)) for table in TABLES]
    statements += [
        Statement(f"CREATE UNIQUE INDEX {table.name}_key ON {table.name} ({unique_columns(table)})") for table in TABLES
    ]
    for table in TABLES:
        # Not compressed: pg_total_relation_size is an upper bound of the size of the values.
        statements += [
            Statement(f"ALTER TABLE {table.name} ALTER COLUMN {quoted(name)} SET STORAGE EXTERNAL")
            for name, kind in zip(table.columns, table.types, strict=True)
            if kind == "blob"
        ]
    statements += map(Statement, (_LEASES, *_INDEXES))
    statements += [Statement("INSERT INTO identities VALUES ($1, $2, $3, $4, $5, $6)", row) for row in NEW_IDENTITIES]
    places = ", ".join(f"${number}" for number in range(1, len(NEW_HEAD) + 1))
    statements.append(Statement(f"INSERT INTO head VALUES ({places}, 0)", NEW_HEAD))
    statements.append(Statement("INSERT INTO profile VALUES ($1, NULL, 1)", (str(uuid.uuid4()),)))
    return statements


_MIGRATIONS: Final = (_first_migration,)
"""Return the statements that lead from each format to the next. A released migration is never edited."""
