"""Changes that can be undone: bounded in time, number and size."""

from __future__ import annotations

import asyncio

from hatbox.manager_api.sites.cookie_undo import CookieUndo, RowChange
from hatbox.manager_api.undo_records import UndoRecords
from hatbox.store.base import CookieRow
from tests.store.in_loop import in_loop


def record(value: str = "v") -> CookieUndo:
    row: CookieRow = ("site.example", 1, "/", "sid", "", value, 1, 1, "lax", None, 1, 5.0, 6.0)
    return CookieUndo(2, [RowChange(row[:5], row, None)])


@in_loop
async def test_the_oldest_records_are_dropped_for_newer_ones() -> None:
    records = UndoRecords[CookieUndo](60.0, max_records=2)
    tokens = [records.add(record()) for _ in range(3)]
    assert [records.take(each or "") is not None for each in tokens] == [False, True, True]


@in_loop
async def test_records_take_a_bounded_amount_of_memory() -> None:
    records = UndoRecords[CookieUndo](60.0, max_bytes=3000)
    first, second = records.add(record("x" * 1500)), records.add(record("x" * 1500))
    assert records.take(first or "") is None
    assert records.add(record("x" * 3000)) is None
    assert records.take(second or "") == record("x" * 1500)


@in_loop
async def test_a_record_is_dropped_after_its_time() -> None:
    records = UndoRecords[CookieUndo](0.0)
    token = records.add(record()) or ""
    expired = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.0, expired.set_result, None)  # after the timer of the record
    await expired
    assert records.take(token) is None
    assert not records._timers
