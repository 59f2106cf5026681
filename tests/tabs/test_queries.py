"""What the rules for tabs read and write: as much in a window with 10,000 tabs as in one with 21, in few trips."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hatbox
from hatbox.api.namespaces.tabs import tab_functions
from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.identities import changes
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import Transaction
from hatbox.store.postgres.connection import PostgresConnection
from hatbox.store.sqlite.migrations import create_tables
from hatbox.store.sqlite.processes import SqliteProcesses
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.sqlite.transaction import SqliteTransaction
from hatbox.tabs.moving import move_tabs
from hatbox.tabs.opening import open_tab
from hatbox.tabs.strip import close_rows, rows_of
from hatbox.tabs.tab_model import tabs_of
from hatbox.tabs.visibility import hide_tabs, show_and_activate
from tests.postgres import address_for
from tests.store.in_loop import in_loop
from tests.tabs.desk import WORK

ACCESS = TabAccess("test", True, (), True, frozenset(), "")  # type: ignore[arg-type]  # no hosts, no active tabs
NO_FILTERS: dict[str, Any] = defaultdict(lambda: None)


class Work(NamedTuple):
    """What a rule costs."""

    steps: int
    """Instructions of SQLite's virtual machine, in tens: rows that it skips count too."""
    read: int
    """Rows that were read."""
    written: int


class _CountedRows(SqliteRows):
    read = written = 0

    def get(self, *key: Any) -> Any:
        _CountedRows.read += 1
        return super().get(*key)

    def find(self, *arguments: Any) -> Any:
        found = super().find(*arguments)
        _CountedRows.read += len(found)
        return found

    def select(self, *arguments: Any) -> Any:
        found = super().select(*arguments)
        _CountedRows.read += len(found)
        return found

    def insert(self, values: Any) -> None:
        _CountedRows.written += 1
        super().insert(values)

    def put(self, rows: Any) -> None:
        rows = list(rows)
        _CountedRows.written += len(rows)
        super().put(rows)

    def update(self, *arguments: Any) -> None:
        _CountedRows.written += 1
        super().update(*arguments)


class Window:
    """A profile with one window: an active tab, and 20 tabs of an identity at equal distances among the others."""

    def __init__(self, count: int) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(self._connection)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hatbox.store.sqlite.transaction.SqliteRows", _CountedRows)
            self.transaction = SqliteTransaction(self._connection, SqliteProcesses(Path()))
        first = open_tab(self.transaction, cookie_store_id="firefox-default")
        self.id, self.active = first.window_id, first.id
        number = user_context_id_of(WORK) or 0
        step = (count - 1) // 20
        rows = [
            self.transaction.tabs.insert(self.id, index, 0 if index % step else number, last_accessed=float(index))
            for index in range(1, count)
        ]
        self.tabs = [row.id for row in rows if row.store == number]
        self.transaction.flush_counters()

    def close(self) -> None:
        self._connection.close()

    def measure(self, rule: Callable[[Transaction], object]) -> Work:
        """Run a rule in a transaction that is rolled back."""
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        self._connection.execute("BEGIN")
        self.transaction.reset()
        _CountedRows.read = _CountedRows.written = 0
        self._connection.set_progress_handler(count, 10)
        try:
            rule(self.transaction)
        finally:
            self._connection.set_progress_handler(None, 0)
            self._connection.execute("ROLLBACK")
            self.transaction.reset()
        return Work(steps, _CountedRows.read, _CountedRows.written)


@pytest.fixture(scope="module")
def windows() -> Iterator[tuple[Window, Window]]:
    few, many = Window(21), Window(10_000)
    yield few, many
    few.close()
    many.close()


RULES: dict[str, Callable[[Window], Callable[[Transaction], object]]] = {
    "create": lambda _: lambda each: open_tab(each, cookie_store_id=WORK),
    "create at an index": lambda _: lambda each: open_tab(each, cookie_store_id=WORK, index=11),
    "create from an opener": lambda window: (
        lambda each: open_tab(each, cookie_store_id=WORK, window_id=window.id, opener_id=window.tabs[10])
    ),
    "remove": lambda window: lambda each: close_rows(each, rows_of(each, [window.tabs[10]])),
    "remove the active tab": lambda window: lambda each: close_rows(each, rows_of(each, [window.active])),
    "remove 19 tabs": lambda window: lambda each: close_rows(each, rows_of(each, window.tabs[:19])),
    "move": lambda window: lambda each: move_tabs(each, [window.tabs[10]], 3),
    "move to the end": lambda window: lambda each: move_tabs(each, [window.tabs[10]], -1),
    "activate": lambda window: lambda each: show_and_activate(each, rows_of(each, [window.tabs[10]])[0]),
    "query by store": lambda _: lambda each: tab_functions.query(each, ACCESS, NO_FILTERS | {"cookieStoreId": WORK}),
    "query the active tab": lambda _: (
        lambda each: tab_functions.query(each, ACCESS, NO_FILTERS | {"active": True, "currentWindow": True})
    ),
    "get": lambda window: lambda each: tabs_of(each, rows_of(each, [window.tabs[10]])),
    "hide 20 tabs": lambda window: lambda each: hide_tabs(each, window.tabs, "extension@example"),
    "hide an identity": lambda _: lambda each: changes.hide(each, WORK),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_costs_the_same_with_10000_tabs_in_the_window(windows: tuple[Window, Window], name: str) -> None:
    few, many = (window.measure(RULES[name](window)) for window in windows)
    ranges = 10_000 / 128  # whose numbers of tabs are read, once for each rule
    counted = 20 * 64  # tabs on average, for the indexes of 20 tabs; all tabs of the window would be 10,000
    assert many.read <= few.read + ranges
    assert many.written <= few.written + 19  # tabs of one range may be in several
    assert many.steps <= 2 * few.steps + 3 * ranges + counted * 3 / 10, (few, many)


@pytest.mark.parametrize("name", ["create", "create at an index", "move"])
def test_a_rule_that_concerns_one_tab_reads_few_rows(windows: tuple[Window, Window], name: str) -> None:
    few, _ = windows
    assert few.measure(RULES[name](few)).read <= 30


class Trips:
    """Counts how often the connections of this process wait for the server."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._count = 0
        run = PostgresConnection.run

        def counted(connection: PostgresConnection, *arguments: Any, **named: Any) -> Any:
            self._count += 1
            return run(connection, *arguments, **named)

        patch.setattr(PostgresConnection, "run", counted)

    async def of(self, call: Callable[[], Awaitable[object]]) -> int:
        """The trips of a call, with its commit. The least of some calls: a profile also polls the server."""
        found: list[int] = []
        for _ in range(3):
            before = self._count
            await call()
            found.append(self._count - before)
        return min(found)


@pytest.mark.server
@in_loop
async def test_creating_and_hiding_tabs_takes_two_trips_and_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = Trips(monkeypatch)
    async with hatbox.open(address_for(tmp_path)) as profile:
        browser = profile.browser(["tabs", "tabHide", "cookies"], "test@example")
        await browser.tabs.create({})
        tabs = [(await browser.tabs.create({"cookieStoreId": WORK, "active": False}))["id"] for _ in range(60)]
        assert await trips.of(lambda: browser.tabs.create({"cookieStoreId": WORK})) <= 3
        assert await trips.of(lambda: profile.tabs.open("Work", "https://site.example/")) <= 3
        hidden = iter((tabs[:20], tabs[20:40], tabs[40:]))
        assert await trips.of(lambda: browser.tabs.hide(next(hidden))) <= 3
        removed = iter(tabs)
        assert await trips.of(lambda: browser.tabs.remove(next(removed))) <= 3
        assert await trips.of(lambda: browser.tabs.query({"cookieStoreId": WORK})) <= 2
