"""The store in a PostgreSQL database, for many machines. Its address is a URL, `postgresql://user@host/database`.

`?schema=NAME` selects the schema, so that one database holds many profiles. All other parts are those of libpq.
The driver, psycopg, is imported only when such a profile is used.
"""

from __future__ import annotations

from hatbox.errors import MissingExtra
from hatbox.store.base import Store

__all__ = ["SCHEMES", "store_at"]

SCHEMES = ("postgresql", "postgres")


def store_at(address: str) -> Store:
    """The store for this URL. Raises MissingExtra without psycopg, ProfileError for an invalid URL."""
    try:
        import psycopg.pq  # noqa: F401
    except ImportError as error:
        raise MissingExtra("postgres", "psycopg") from error
    from hatbox.store.postgres.store import PostgresStore

    return PostgresStore(address)
