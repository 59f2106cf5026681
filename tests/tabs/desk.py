"""A profile on which tests call the rules for tabs one by one: in a file of SQLite, without the store around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hatbox.identities import changes
from hatbox.identity import model
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.store.base import Transaction
from hatbox.store.sqlite.migrations import create_tables, version_of
from hatbox.store.sqlite.processes import SqliteProcesses
from hatbox.store.sqlite.transaction import SqliteTransaction
from hatbox.tabs.opening import open_tab, open_window
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import Tab, all_tabs, tab_of
from hatbox.tabs.visibility import show_and_activate

T = TypeVar("T")

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


class _Changes:
    def __init__(self) -> None:
        self.noted: list[tuple[str, Any]] = []

    def append(self, topic: str, payload: bytes) -> None:
        self.noted.append((topic, msgspec.json.decode(payload)))


class _Recorded(SqliteTransaction):
    """A transaction that remembers what is told."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, SqliteProcesses(Path()))
        self.recorded = _Changes()
        self.changes = self.recorded  # type: ignore[assignment]  # all that rules know of it is append()


class Desk:
    """Windows with tabs, and what was told of them."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        if not version_of(self._connection):
            create_tables(self._connection)
        self._transaction = _Recorded(self._connection)

    def close(self) -> None:
        self._connection.close()

    def restart(self) -> None:
        """Close the file and open it again: only what is in it is left."""
        self.close()
        self.__init__(self._path)  # type: ignore[misc]  # as a new program would

    def do(self, rule: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a rule in a transaction: all of it happens, or nothing."""
        transaction: Transaction = self._transaction
        self._connection.execute("BEGIN")
        self._transaction.reset()
        try:
            result = rule(transaction, *arguments, **named)
            self._transaction.flush_counters()
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return result

    @property
    def heard(self) -> list[str]:
        """What was told since this was last asked, in short."""
        noted, self._transaction.recorded.noted = self._transaction.recorded.noted, []
        return [_short(topic, payload) for topic, payload in noted]

    # ------------------------------------------------------------------------------------------------ in short words

    def open(self, store: str = DEFAULT_COOKIE_STORE_ID, url: str | None = None, **named: Any) -> int:
        return self.do(open_tab, url, cookie_store_id=store, **named).id

    def open_window(self, *urls: str, store: str = DEFAULT_COOKIE_STORE_ID) -> int:
        return self.do(open_window, urls, cookie_store_id=store).id

    def close_tabs(self, *tab_ids: int) -> None:
        self.do(lambda each: close_rows(each, [row_of(each, tab_id) for tab_id in tab_ids]))

    def activate(self, tab_id: int) -> None:
        self.do(lambda each: show_and_activate(each, row_of(each, tab_id)))

    def hide(self, store: str) -> None:
        self.do(changes.hide, store)

    def show(self, store: str) -> None:
        self.do(changes.show, store)

    def remove(self, store: str) -> None:
        self.do(changes.remove, store)

    def tab(self, tab_id: int) -> Tab:
        return self.do(lambda each: tab_of(each, row_of(each, tab_id)))

    def tabs(self) -> list[Tab]:
        return self.do(lambda each: all_tabs(each))

    def is_hidden(self, store: str) -> bool:
        return self.do(model.get, store).hidden

    @property
    def picture(self) -> list[str]:
        """Each window: its tabs in their order, `*` before the active one, `^` before pinned, `-` before hidden."""
        windows: dict[int, list[str]] = {row.id: [] for row in self.do(lambda each: each.windows.find())}
        for tab in self.tabs():
            marks = "^" * tab.pinned + "-" * tab.hidden + "*" * tab.active
            windows[tab.window_id].append(f"{marks}{tab.id}")
        return [" ".join(tabs) for tabs in windows.values()]

    def check(self) -> None:
        """What always holds."""
        hidden = {cookie_store_id_of(row[0]) for row in self.do(lambda each: each.identities.find()) if row[4]}
        known = {DEFAULT_COOKIE_STORE_ID} | {
            cookie_store_id_of(row[0]) for row in self.do(lambda each: each.identities.find())
        }
        windows: dict[int, list[Tab]] = {row.id: [] for row in self.do(lambda each: each.windows.find())}
        for tab in self.tabs():
            windows[tab.window_id].append(tab)
            assert tab.cookie_store_id in known, "a tab of an identity that is gone"
            assert tab.hidden or tab.cookie_store_id not in hidden, "a visible tab of a hidden identity"
        for window, tabs in windows.items():
            numbers = self.do(lambda each, window=window: (each.tabs.count(window), each.tabs.pinned_count(window)))
            assert numbers == (len(tabs), sum(tab.pinned for tab in tabs)), "the tabs are not counted right"
            assert tabs, "a window without tabs"
            found = self.do(lambda each, tabs=tabs: [tab_of(each, row_of(each, tab.id)).index for tab in tabs])
            assert found == list(range(len(tabs))), "an index is not the number of tabs before"
            assert [tab.pinned for tab in tabs] == sorted((tab.pinned for tab in tabs), reverse=True), (
                "pinned not first"
            )
            visible = [tab for tab in tabs if not tab.hidden]
            assert [tab.active for tab in tabs if tab.active] == [True] * bool(visible), "not one active tab"
            assert not any(tab.active for tab in tabs if tab.hidden), "the active tab is hidden"
            ids = {tab.id for tab in tabs}
            assert all(tab.opener_id in ids for tab in tabs if tab.opener_id), "an opener that is not there"
            assert all(tab.successor_id in ids for tab in tabs if tab.successor_id), "a successor that is not there"


def _short(topic: str, payload: Any) -> str:
    name = topic.removeprefix("tabs.")
    match topic:
        case "tabs.created":
            return f"created {payload['id']}{' active' if payload['active'] else ''}"
        case "tabs.updated":
            shown = ", ".join(f"{each}={_value(payload['tab'], each)}" for each in payload["changed"])
            return f"updated {payload['tab']['id']} {shown}"
        case "tabs.removed":
            return f"removed {payload['tab']['id']}{' with its window' if payload['window_closing'] else ''}"
        case "tabs.activated":
            return f"activated {payload['tab_id']} after {payload['previous_tab_id']}"
        case "tabs.moved":
            return f"moved {payload['tab_id']} {payload['from_index']}→{payload['to_index']}"
        case "tabs.attached" | "tabs.detached":
            return f"{name} {payload['tab_id']} window {payload['window_id']} at {payload['index']}"
        case "tabs.navigated":
            return f"navigated {payload['id']}"
        case "windows.created" | "windows.updated":
            return f"{topic} {payload['id']}"
        case "windows.removed" | "windows.focused" | "cookies.gone":
            return f"{topic} {payload}"
    return f"{topic} {payload['cookieStoreId']}"


def _value(tab: dict[str, Any], attribute: str) -> Any:
    value = ("loading" if tab["begun"] else "complete") if attribute == "status" else tab[attribute]
    return str(value).lower() if isinstance(value, bool) else value
