"""The store in a PostgreSQL database, for many machines. Its address is a URL, `postgresql://user@host/database`.

`?schema=NAME` selects the schema, so that one database holds many profiles. All other parts are those of libpq.
The driver, psycopg, is imported only when such a profile is used.
"""

from __future__ import annotations

from hatbox.errors import MissingExtra
from hatbox.store.base import Store
from hatbox.store.keys import Key

__all__ = ["SCHEMES", "change_key_at", "store_at"]

SCHEMES = ("postgresql", "postgres")


def store_at(address: str) -> Store:
    """The store for this URL. Raises MissingExtra without psycopg, ProfileError for an invalid URL."""
    _require_driver()
    from hatbox.store.postgres.store import PostgresStore

    return PostgresStore(address)


def change_key_at(address: str, old: Key | None, new: Key | None) -> int | None:
    """Encrypt the profile with this URL, change its key, or decrypt it; see profile_key.change_key."""
    _require_driver()
    from hatbox.store.postgres.address import PostgresAddress
    from hatbox.store.postgres.profile_key import change_key

    return change_key(PostgresAddress.parse(address), old, new)


def _require_driver() -> None:
    try:
        import psycopg.pq  # noqa: F401
    except ImportError as error:
        raise MissingExtra("postgres", "psycopg") from error
