"""The store in a PostgreSQL database, for many machines. Its address is a URL, `postgresql://user@host/database`.

`?schema=NAME` selects the schema, so that one database holds many profiles. All other parts are those of libpq.
The driver, psycopg, is imported only when such a profile is used.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from hatbox.errors import MissingExtra
from hatbox.store.base import Store
from hatbox.store.keys import Key
from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
from hatbox.store.profile_info import ProfileInfo

__all__ = ["SCHEMES", "change_key_at", "create_at", "dump_at", "fill_at", "info_at", "store_at"]

SCHEMES = ("postgresql", "postgres")


def store_at(address: str) -> Store:
    """The store for this URL. Raises MissingExtra without psycopg, ProfileError for an invalid URL."""
    _require_driver()
    from hatbox.store.postgres.store import PostgresStore

    return PostgresStore(address)


def create_at(address: str) -> bool:
    """Create the schema of this URL, with a new profile. False if it has a profile already, which is not changed."""
    _require_driver()
    from hatbox.store.postgres.offline import create

    return create(address)


def info_at(address: str) -> ProfileInfo:
    """Describe the profile of this URL."""
    _require_driver()
    from hatbox.store.postgres.offline import info

    return info(address)


def dump_at(address: str, key: Key | None = None) -> AbstractContextManager[ProfileDump]:
    """The rows of the profile of this URL, for a copy."""
    _require_driver()
    from hatbox.store.postgres.offline import opened_dump

    return opened_dump(address, key)


def fill_at(
    address: str, source: CopySource, *, plain: bool, progress: CopyProgress, key: Key | None = None
) -> CopyResult:
    """Write the rows of another profile into a new or unchanged profile."""
    _require_driver()
    from hatbox.store.postgres.offline import fill_schema

    return fill_schema(address, source, plain=plain, progress=progress, key=key)


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
