"""The store on one SQLite file."""

from hatbox.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
