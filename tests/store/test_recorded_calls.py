"""Records of calls: one for each call that has changed the profile, in the transaction of the change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hatbox.store import sqlite
from hatbox.store.base import Store, Transaction
from hatbox.store.recorded_calls import RecordedCall, delete_records, expire_records, recorded_numbers
from tests.waiting import until_awaited

SESSION = "0123456789abcdef"


def with_store(tmp_path: Path, test: Callable[[Store], Awaitable[None]]) -> None:
    async def main() -> None:
        store = sqlite.store_at(str(tmp_path / "profile.db"))  # in the store of this test run
        await store.open()
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(main())


async def numbers(store: Store, session: str = SESSION) -> frozenset[int]:
    return await store.read(lambda each: recorded_numbers(each, session))


def insert(transaction: Transaction) -> int:
    return transaction.identities.insert("Name", "gift", "red")


def fail(transaction: Transaction) -> None:
    insert(transaction)
    raise ValueError("refused")


def test_a_call_is_recorded_if_and_only_if_it_has_changed_the_profile(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        with RecordedCall(SESSION, 1).running():
            await store.write(insert)
            await store.write(insert)
        with RecordedCall(SESSION, 2).running():
            await store.read(lambda each: each.identities.count())
        with RecordedCall(SESSION, 3).running(), pytest.raises(ValueError, match="refused"):
            await store.write(fail)
        await store.write(insert)
        assert await numbers(store) == {1}
        assert await numbers(store, SESSION[:-1]) == await numbers(store, SESSION + "0") == frozenset()

    with_store(tmp_path, test)


def test_writes_of_tasks_belong_to_the_call_until_it_is_finished(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        finished = asyncio.Event()

        async def work() -> None:
            await store.write(insert)
            await finished.wait()
            call.number = 8  # would be recorded under another number
            await store.write(insert)

        call = RecordedCall(SESSION, 7)
        with call.running():
            task = asyncio.create_task(work())
        await until_awaited(lambda: numbers(store))
        call.is_finished = True
        finished.set()
        await task
        assert call.has_written
        assert await numbers(store) == {7}

    with_store(tmp_path, test)


def test_records_are_deleted_when_they_are_not_needed_and_after_a_day(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        for number in range(1, 1500):
            with RecordedCall(SESSION, number).running():
                last = store.write(lambda each: None)
        await last
        assert await numbers(store) == set(range(1, 1500))
        with RecordedCall(SESSION, 1500, obsolete=range(1, 1400)).running():
            await store.write(lambda each: None)
        assert await numbers(store) == set(range(1400, 1501))
        await store.write(lambda each: delete_records(each, SESSION, [1500]))
        await expire_records(store)
        assert len(await numbers(store)) == 100
        await store.write(lambda each: each.extensions.put("", "call", f"{SESSION}/{1400:015d}", b"1"))  # in 1970
        await expire_records(store)
        assert await numbers(store) == set(range(1401, 1500))

    with_store(tmp_path, test)
