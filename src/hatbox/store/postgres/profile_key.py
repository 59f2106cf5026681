"""The key of a profile on a server: verified for each connection, and changed while no program is connected.

Every worker's connection has a shared advisory lock of the profile. Changing the key needs the exclusive one.
"""

from __future__ import annotations

from typing import Any

from hatbox.errors import ProfileError, ProfileLocked, WrongKey
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.direct_session import DirectSession
from hatbox.store.postgres.failures import ConnectionLost, ServerError, to_profile_error, unavailable
from hatbox.store.postgres.nearest_schemas import not_found
from hatbox.store.postgres.open_lock import lock_alone, lock_shared
from hatbox.store.postgres.schema import format_of, prepare_schema
from hatbox.store.postgres.setup import connect
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.reencryption import has_key, old_values_remain, reencrypt
from hatbox.store.tables.schema import PROFILE, TABLES

__all__ = ["ProfileKey", "change_key"]


class ProfileKey:
    """The key with which a store was opened. All connections of the store must meet the same profile."""

    def __init__(self, schema: str, key: Key | None) -> None:
        self._schema = schema
        self._key = key
        self._row: tuple[Any, ...] | None = None
        self._cipher: Cipher | None = None

    def verified(self, connection: PostgresConnection) -> Cipher | None:
        """The cipher of the profile; None if it is not encrypted. Locks the key until the connection ends.

        Raises WrongKey, also if the key was changed since the first connection. Closes the connection in that case.
        """
        try:
            return self._verified(connection)
        except BaseException:
            connection.close()
            raise

    def _verified(self, connection: PostgresConnection) -> Cipher | None:
        if not lock_shared(connection, self._schema):
            problem = "another program is changing its encryption, or upgrades it"
            raise ProfileLocked(connection.label, problem, "Nothing was changed. Try again later.")
        rows = DirectSession(connection).rows(PROFILE)
        row = rows.get(1)
        if self._row is None:
            self._cipher = cipher_of(rows, self._key, connection.label)
            self._row = row
        elif row != self._row:
            problem = "its key was changed, or it was replaced by another profile, while the connection was lost"
            raise WrongKey(connection.label, problem, "Nothing was changed. Close it, and open it with the new key.")
        return self._cipher


def change_key(address: PostgresAddress, old: Key | None, new: Key | None) -> int | None:
    """Replace the key of a profile; None is no encryption. Returns the number of values that were rewritten.

    Returns None if the profile has the new key already. Raises WrongKey if `old` is not its key, and other
    ProfileErrors. Then nothing was changed. Dead rows are removed from the tables, if this role owns them. Values stay
    in the server's write-ahead log, in standbys that lag behind and in backups.
    """
    try:
        connection = connect(address)
    except ConnectionLost as error:
        raise unavailable(address.label, error) from error
    try:
        count = _change_key(connection, address, old, new)
        _remove_old_values(connection)
        return count
    except ConnectionLost as error:
        raise unavailable(address.label, error, uncertain=True) from error
    except ServerError as error:
        raise to_profile_error(address.label, error) from error
    finally:
        connection.close()


def _change_key(
    connection: PostgresConnection, address: PostgresAddress, old: Key | None, new: Key | None
) -> int | None:
    if format_of(connection, address.schema) is None:
        raise not_found(connection, address.schema)
    prepare_schema(connection, address.schema)
    lock_alone(connection, address.schema, "its encryption can be changed only while no program has it open")
    _require_owner(connection, address.schema)
    session = DirectSession(connection)
    rows = session.rows
    count = None
    if not has_key(rows, new):
        connection.run([Statement("BEGIN")])
        try:
            connection.run([Statement("SELECT changes FROM head FOR UPDATE")])
            count = reencrypt(rows, old, new, connection.label)
            session.flush()
            connection.run([Statement("COMMIT")])
        except ServerError:
            connection.run([Statement("ROLLBACK")])
            raise
    return count


def _require_owner(connection: PostgresConnection, schema: str) -> None:
    """Old values stay in dead rows, which only the owner of a table can remove."""
    query = (
        "SELECT bool_and(pg_has_role(tableowner, 'USAGE')) FROM pg_tables WHERE schemaname = convert_from($1, 'UTF8')"
    )
    ((is_owner,),) = connection.run([Statement(query, (schema,))])[0]
    if not is_owner:
        problem = "this role does not own the tables, and could not remove the old values from them"
        raise ProfileError(connection.label, problem, "Nothing was changed. Use the role that has created the profile.")


def _remove_old_values(connection: PostgresConnection) -> None:
    """Remove dead rows. The key was changed before: that is what an error has to tell."""
    try:
        for table in TABLES:
            if table.secret:
                connection.run([Statement(f"VACUUM (FULL) {table.name}")])
    except (ConnectionLost, ServerError) as error:
        raise old_values_remain(connection.label, str(error)) from error
