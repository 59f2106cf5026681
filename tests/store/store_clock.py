"""Sets the clock of profiles, in this process."""

from __future__ import annotations

import pytest

from hatbox.store.sqlite.store import SqliteStore
from hatbox.store.tables.transaction import SqlTables
from tests.postgres import is_on_server

__all__ = ["set_store_clock"]


def set_store_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """From now on, it is this time for every profile, in seconds since 1970."""
    monkeypatch.setattr(SqlTables, "time", lambda _: seconds)
    monkeypatch.setattr(SqliteStore, "time", lambda _: seconds)
    if is_on_server():
        from hatbox.store.postgres.store import PostgresStore

        monkeypatch.setattr(PostgresStore, "time", lambda _: seconds)
