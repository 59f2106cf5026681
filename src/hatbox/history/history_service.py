"""The history of a profile, for Python: finds visited pages, and clears them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import msgspec

from hatbox.history.search import matches_words, words_of
from hatbox.history.visits import clear_history
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import IdentityLike, store_number
from hatbox.store.base import Store, Transaction
from hatbox.store.record_tables import PageRow

__all__ = ["History", "VisitedPage"]

_BATCH: Final = 250


class VisitedPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page that was visited in an identity, or in the default store."""

    url: str
    title: str
    cookie_store_id: str
    last_visit: float
    """In seconds since 1970."""
    visits: int


class History:
    """The visited pages of all identities. Recorded only if the user says so, or an extension needs it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def search(
        self, text: str = "", identity: IdentityLike | None = None, *, limit: int = 100
    ) -> list[VisitedPage]:
        """The pages with all these words in URL or title, those visited last first; of all identities, or of one."""
        words = words_of(text)
        number = None if identity is None else await self._store.read(lambda each: store_number(each, identity))
        found: list[PageRow] = []
        before: tuple[float, int] | None = None
        while len(found) < limit:
            rows = await self._store.read(partial(_batch, number=number, before=before))
            found += [row for row in rows if matches_words(words, row.url, row.title)]
            if len(rows) < _BATCH:
                break
            before = rows[-1].last_visit, rows[-1].id
            await asyncio.sleep(0)
        return [_page(row) for row in found[:limit]]

    def clear(self, identity: IdentityLike | None = None) -> asyncio.Future[None]:
        """Delete the history of all identities, or of one."""

        def clear(transaction: Transaction) -> None:
            clear_history(transaction, None if identity is None else store_number(transaction, identity))

        return self._store.write(clear)


def _batch(transaction: Transaction, *, number: int | None, before: tuple[float, int] | None) -> list[PageRow]:
    return transaction.history.latest(_BATCH, since=0.0, store=number, before=before)


def _page(row: PageRow) -> VisitedPage:
    return VisitedPage(row.url, row.title, cookie_store_id_of(row.store), row.last_visit, row.visits)
