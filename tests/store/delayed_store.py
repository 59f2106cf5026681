"""A store whose reads answer later than they return, as those of a server do.

`HATBOX_TEST_STORE=delayed python -m pytest tests/tabs tests/cookies tests/api` runs those tests with it: no caller may
rely on an answer that is there at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from hatbox.store.base import TransactionFunction
from hatbox.store.sqlite.store import SqliteStore

T = TypeVar("T")


class DelayedStore(SqliteStore):
    """Runs every read in the writer's thread, in the order of the calls. Reads share no snapshot."""

    def read(self, work: TransactionFunction[T], *, single_statement: bool = False) -> asyncio.Future[T]:
        return self._calls.put(self._loop, self._require_open().put, work, writes=False)

    def deliver_pending_changes(self) -> asyncio.Future[None]:
        return self._calls.put(self._loop, self._require_open().put, lambda _: None, writes=False)

    def shared_snapshot(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


def delayed_store_at(address: str) -> DelayedStore:
    """See hatbox.store.registry."""
    return DelayedStore(Path(address).expanduser().absolute())
