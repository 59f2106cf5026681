"""The order of tabs: their indexes, and the queries about their neighbours, compared with a plain list."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.store.base import TabRow, Transaction
from hatbox.store.sqlite.migrations import create_tables
from hatbox.store.sqlite.processes import SqliteProcesses
from hatbox.store.sqlite.transaction import SqliteTransaction
from hatbox.store.tables import tab_order
from tests.store.in_loop import in_loop
from tests.store.test_contract import NewStore, new_store, opened  # noqa: F401 - the fixture of all stores

WINDOWS = (1, 2)


class Tables:
    """The tables of a new profile, in memory, beside the order that they should have."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(self._connection)
        self.transaction = SqliteTransaction(self._connection, SqliteProcesses(Path()))
        self.order: dict[int, list[int]] = {window: [] for window in WINDOWS}
        self.pinned: dict[int, int] = {}

    def close(self) -> None:
        self._connection.close()

    def run(self, operation: tuple[Any, ...]) -> None:
        """Insert, move or delete a tab. Numbers are reduced to those that exist."""
        kind, *numbers = operation
        apply(self.transaction, self.order, self.pinned, kind, numbers)

    def check(self, transaction: Transaction) -> None:
        check(transaction, self.order, self.pinned)


def apply(
    transaction: Transaction, order: dict[int, list[int]], pinned: dict[int, int], kind: str, numbers: list[int]
) -> None:
    """Run an operation on the tables and on the lists."""
    which, to, place, is_pinned = numbers
    window = WINDOWS[to % len(WINDOWS)]
    known = [tab for tabs in order.values() for tab in tabs]
    if kind == "insert" or not known:
        index = place % (len(order[window]) + 1)
        tab = transaction.tabs.insert(window, index, which % 3, pinned=is_pinned).id
        order[window].insert(index, tab)
        pinned[tab] = is_pinned
        return
    tab = known[which % len(known)]
    for tabs in order.values():
        if tab in tabs:
            tabs.remove(tab)
    if kind == "delete":
        transaction.tabs.delete(tab)
        return
    index = place % (len(order[window]) + 1)
    transaction.tabs.move(tab, window, index, pinned=is_pinned)
    order[window].insert(index, tab)
    pinned[tab] = is_pinned


def check(transaction: Transaction, order: dict[int, list[int]], pinned: dict[int, int]) -> None:
    """Everything that can be asked about the order agrees with the lists."""
    rows: dict[int, TabRow] = {row.id: row for row in transaction.tabs.find()}
    for window, tabs in order.items():
        assert [row.id for row in transaction.tabs.find(window=window)] == tabs
        assert transaction.tabs.count(window) == len(tabs)
        assert transaction.tabs.pinned_count(window) == sum(pinned[tab] for tab in tabs)
        expected = {tab: index for index, tab in enumerate(tabs)}
        assert transaction.tabs.indexes([rows[tab] for tab in tabs]) == expected
        assert all(transaction.tabs.indexes([rows[tab]]) == {tab: index} for tab, index in expected.items())


operations = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "move", "delete"]),
        st.integers(0, 100),
        st.integers(0, 1),
        st.integers(0, 100),
        st.integers(0, 1),
    ),
    max_size=25,
)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [tab_order.GAP, 2])
@settings(max_examples=25, deadline=None)
@given(operations=operations)
def test_tabs_have_the_order_of_a_list(gap: int, operations: list[tuple[Any, ...]]) -> None:
    """Also with gaps that are used up at once, and with few positions in each range."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tab_order, "GAP", gap)
        patch.setattr(tab_order, "RANGE", gap * 4)
        patch.setattr(tab_order, "_MIN_STEP", 1)
        patch.setattr(tab_order, "_MIN_MOVED", 2)
        tables = Tables()
        for operation in operations:
            tables.run(operation)
            tables.check(tables.transaction)
            tables.transaction.flush_counters()
            tables.transaction.reset()
            tables.check(tables.transaction)
        tables.close()


@pytest.mark.parametrize("index", [0, 1, 150, 300])
def test_hundreds_of_tabs_at_one_index(index: int) -> None:
    """No gap is large enough for all of them, so their neighbours are moved, but few for each tab."""
    tables = Tables()
    for number in range(300):
        tables.run(("insert", 0, 0, number, 0))
    for _ in range(400):
        tables.run(("insert", 0, 0, index, 0))
    tables.check(tables.transaction)
    tables.close()


def test_many_indexes_are_found_at_once() -> None:
    tables = Tables()
    for number in range(700):
        tables.run(("insert", 0, 0, number, number < 3))
    transaction = tables.transaction
    rows = transaction.tabs.find(window=1)
    random.Random(5).shuffle(rows)
    for count in (1, 2, 150, 151, 700):
        transaction.reset()
        expected = {row.id: tables.order[1].index(row.id) for row in rows[:count]}
        assert transaction.tabs.indexes(rows[:count]) == expected
    tables.close()


@pytest.fixture
def tables() -> Iterator[Tables]:
    found = Tables()
    yield found
    found.close()


def test_visible_neighbours_of_a_tab(tables: Tables) -> None:
    tabs = tables.transaction.tabs
    ids = [tabs.insert(1, number, 0, hidden=int(number in (2, 4))).id for number in range(7)]

    def neighbours(tab: int, leaving: list[int]) -> list[int | None]:
        row = tabs.get(tab)
        assert row is not None
        return [each and each.id for each in tabs.visible_neighbours(row, leaving)]

    assert neighbours(ids[3], []) == [ids[1], ids[5]]
    assert neighbours(ids[3], [ids[1], ids[5]]) == [ids[0], ids[6]]
    assert neighbours(ids[0], []) == [None, ids[1]]
    assert neighbours(ids[6], ids[:6]) == [None, None]
    many = [*ids[:2], *range(1000, 2000)]  # more than one statement may name
    assert neighbours(ids[3], many) == [None, ids[5]]


def test_neighbours_of_a_tab_may_be_hidden_but_are_of_the_same_window(tables: Tables) -> None:
    tabs = tables.transaction.tabs
    ids = [tabs.insert(1, number, 0, hidden=int(number == 1)).id for number in range(3)]
    tabs.insert(2, 0, 0)
    found = [[each and each.id for each in tabs.neighbours(row)] for row in tabs.get_many(ids)]
    assert found == [[None, ids[1]], [ids[0], ids[2]], [ids[1], None]]


def test_the_summary_of_a_window(tables: Tables) -> None:
    tabs = tables.transaction.tabs
    assert tabs.summary(1) == (0, 0, None, None, 0.0, ())
    for number, (hidden, accessed) in enumerate([(0, 3.0), (0, 7.0), (1, 9.0), (0, 7.0), (0, 1.0)]):
        tabs.insert(1, number, 0, hidden=hidden, last_accessed=accessed, pinned=int(number < 2))
    tabs.insert(2, 0, 0, last_accessed=50.0, active=1, related=1)
    tabs.update(4, active=1)
    tabs.update(1, related=5)
    summary = tabs.summary(1)
    assert (summary.tab_count, summary.pinned_count, summary.last_accessed) == (5, 2, 9.0)
    assert summary.active is not None
    assert summary.latest is not None
    assert (summary.active.id, summary.latest.id) == (4, 2)  # of two that were accessed last, the first
    assert [row.id for row in summary.related] == [1]


def test_tabs_that_refer_to_others(tables: Tables) -> None:
    tabs = tables.transaction.tabs
    for number in range(6):
        tabs.insert(1, number, 0)
    tabs.update(2, opener=1)
    tabs.update(3, successor=1, opener=4)
    tabs.update(5, successor=6)
    assert [row.id for row in tabs.referring([1])] == [2, 3]
    assert [row.id for row in tabs.referring([6, 4])] == [3, 5]
    assert [row.id for row in tabs.referring(range(1, 2000))] == [2, 3, 5]
    assert tabs.referring([]) == []


@in_loop
async def test_every_store_has_the_order_of_a_list(new_store: NewStore) -> None:  # noqa: F811 - the fixture
    choose = random.Random(3)
    order: dict[int, list[int]] = {window: [] for window in WINDOWS}
    pinned: dict[int, int] = {}

    def change(transaction: Transaction) -> None:
        for _ in range(20):
            numbers = [choose.randrange(100), choose.randrange(2), choose.randrange(100), choose.randrange(2)]
            apply(transaction, order, pinned, choose.choice(["insert", "insert", "move", "delete"]), numbers)
        check(transaction, order, pinned)

    async with opened(new_store()) as store:
        for _ in range(5):
            await store.write(change)
            await store.read(lambda transaction: check(transaction, order, pinned))
