"""What extensions store: values in pages, and databases that change all or nothing, on every store."""

from __future__ import annotations

from functools import partial

import pytest

from hatbox.errors import ApiError
from hatbox.extension_data import indexed_databases, installed_extensions
from hatbox.extension_data.indexed_databases import Commit, RecordPage, StoreChange
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.store.base import Transaction, TransactionFunction
from tests.store.in_loop import in_loop
from tests.store.test_contract import NewStore, new_store, opened  # noqa: F401 - new_store is a fixture


@in_loop
async def test_values_are_read_in_pages_in_the_binary_order_of_their_keys(new_store: NewStore) -> None:  # noqa: F811
    def change(transaction: Transaction) -> None:
        for key in ("10.0", "9.0", "1.0", "1.1", "é", "Z"):
            transaction.extensions.put("one", "kind", key, key.encode())
        transaction.extensions.put("one", "other", "5.0", b"")
        transaction.extensions.put("two", "kind", "5.0", b"")

    async with opened(new_store()) as store:
        await store.write(change)
        first = await store.read(lambda each: each.extensions.find_page("kind", "one", "", 4))
        assert first == [("1.0", b"1.0"), ("1.1", b"1.1"), ("10.0", b"10.0"), ("9.0", b"9.0")]
        rest = await store.read(lambda each: each.extensions.find_page("kind", "one", "9.0", 4))
        assert rest == [("Z", b"Z"), ("é", "é".encode())]


def _read_page(transaction: Transaction, after: str) -> RecordPage:
    return indexed_databases.read_page(transaction, "x", 1, 1, after)


@in_loop
async def test_databases_of_extensions_are_changed_all_or_nothing(
    new_store: NewStore,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(indexed_databases, "QUOTA", 100_000)
    record = InstalledExtension(id="x", path="/x", name="x", version="1", permanent=False, enabled=True, area="x")

    def commit(revision: int, rows: dict[str, str | None], *, cleared: bool = False) -> TransactionFunction[None]:
        change = StoreChange(1, cleared, rows)
        made = Commit(1, revision, (1, 2), f"revision {revision}", [change])
        return lambda transaction: indexed_databases.commit(transaction, "x", made)

    async with opened(new_store()) as store:
        await store.write(lambda transaction: installed_extensions.install(transaction, record))
        await store.write(commit(0, {f"{number}.0": "x" * 100 for number in range(300)}))
        for revision, problem in ((0, "stale"), (1, "QuotaExceededError")):
            with pytest.raises(ApiError, match=problem):
                await store.write(commit(revision, {"0.0": None, "999.0": "x" * 90_000}))
        rows: list[tuple[str, str]] = []
        after: str | None = ""
        while after is not None:
            page = await store.read(partial(_read_page, after=after))
            rows += page.rows
            after = page.next
        assert sorted(rows) == sorted((f"{number}.0", "x" * 100) for number in range(300))
        await store.write(commit(1, {"999.0": "x" * 90_000}, cleared=True))
        assert await store.read(lambda each: indexed_databases.list_all(each, "x")) == [(1, 2, "revision 1")]
        assert 90_000 < await store.read(lambda each: indexed_databases.usage(each, "x")) < 91_000
        await store.write(lambda transaction: indexed_databases.delete(transaction, "x", 1, 2))
        assert await store.read(lambda each: indexed_databases.usage(each, "x")) == 0
