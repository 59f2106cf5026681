"""The tables of a profile in PostgreSQL: created in a schema of their own, and upgraded by numbered migrations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hatbox.errors import NotAProfile, ProfileError, ProfileLocked
from hatbox.store.keys import Key
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ServerError, to_profile_error, too_new
from hatbox.store.postgres.nearest_schemas import not_found
from hatbox.store.postgres.open_lock import lock_alone
from hatbox.store.postgres.sql import quoted
from hatbox.store.tables.new_profile import NEW_HEAD, new_identities
from hatbox.store.tables.profile_row import new_profile_row
from hatbox.store.tables.schema import HEAD, IDENTITIES, PROFILE, TABLES, Table

__all__ = [
    "FORMAT",
    "format_of",
    "lock_schema",
    "missing_statements",
    "prepare_schema",
    "privilege_errors",
    "unique_columns",
]

FORMAT: Final = 4
"""The number of the current format: that of the last file in the folder `migrations`."""

_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_DEFAULT: Final = re.compile(r"\{(\w+)\.(\w+)\}")
_UNIQUE: Final = {
    "cookies": "store, domain, host_only, sha256(path), sha256(name), sha256(partition)",
    "site_data": "store, sha256(origin)",
}


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


def prepare_schema(connection: PostgresConnection, schema: str, key: Key | None = None, *, create: bool = True) -> bool:
    """Create the profile if it does not exist, upgrade it if it is older. Returns whether it was created.

    With a key, a new profile is encrypted. Without `create`, raises ProfileNotFound instead of creating it.
    """
    version = format_of(connection, schema)
    if version == FORMAT:
        return False
    if version is not None and version > FORMAT:
        raise too_new(connection.label, version, FORMAT)
    if version is not None:
        return _create_or_upgrade(connection, schema, key)
    if not create:
        raise not_found(connection, schema)
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
        if version is not None:  # programs of the earlier version do not know what the new format has, such as proxies
            problem = f"it has the earlier format {version}, and can be upgraded only while no program has it open"
            lock_alone(connection, schema, problem, in_transaction=True)
        connection.run([*missing_statements(connection, schema, version, key), Statement("COMMIT")])
        return version is None
    except (ServerError, ProfileLocked):
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
    for number in range((version or 0) + 1, FORMAT + 1):
        statements += _migration(number)
    statements += _new_rows(key) if version is None else [Statement("UPDATE head SET format = $1", (FORMAT,))]
    return statements


def _migration(number: int) -> list[Statement]:
    """The statements that lead to a format from the one before. A released migration is never edited.

    {table.column} is the default of that column, as tables/schema.py has it.
    """
    lines = (_MIGRATIONS / f"{number:04}.sql").read_text("utf-8").splitlines()
    text = _DEFAULT.sub(_default, "\n".join(line for line in lines if not line.startswith("--")))
    return [Statement(statement.strip()) for statement in text.split(";") if statement.strip()]


def _default(found: re.Match[str]) -> str:
    (table,) = (table for table in TABLES if table.name == found[1])
    value = dict(table.defaults)[found[2]]
    if isinstance(value, str | bytes):
        return f"'\\x{(value.encode() if isinstance(value, str) else value).hex()}'"
    return "NULL" if value is None else str(value)


def _new_rows(key: Key | None) -> list[Statement]:
    """Inserts the rows of a new profile."""
    rows = [(IDENTITIES, row) for row in new_identities()] + [(HEAD, NEW_HEAD), (PROFILE, new_profile_row(key))]
    return [Statement(_insert_statement(table), row) for table, row in rows]


def _insert_statement(table: Table) -> str:
    columns = ", ".join(quoted(column) for column in table.columns)
    places = ", ".join(f"${number}" for number in range(1, len(table.columns) + 1))
    if table is HEAD:
        return f"INSERT INTO {table.name} ({columns}, format) VALUES ({places}, {FORMAT})"
    return f"INSERT INTO {table.name} ({columns}) VALUES ({places})"
