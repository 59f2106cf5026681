"""The store in one SQLite file. Its address is a path."""

from pathlib import Path

from hatbox.errors import ProfileError
from hatbox.store.sqlite.store import SqliteStore

__all__ = ["SCHEMES", "SqliteStore", "store_at"]

SCHEMES = ("",)


def store_at(address: str) -> SqliteStore:
    """The store for the file with this path, which may be relative or start with ~."""
    path = Path(address)
    try:
        return SqliteStore(path.expanduser().absolute())
    except (OSError, RuntimeError) as error:  # no such user, or the current folder was deleted
        raise ProfileError(path, f"cannot resolve the path ({error})", "Choose another path.") from error
