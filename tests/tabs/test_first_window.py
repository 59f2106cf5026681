from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.store.base import Transaction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.first_window import close_first_tab, leave_first_tab, open_first_window, unused_window
from hatbox.tabs.moving import attach, set_pinned
from hatbox.tabs.opening import duplicate, open_tab, open_window
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import BLANK, tab_of
from hatbox.tabs.visibility import show_and_activate
from tests.tabs.desk import WORK, Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture
def empty(desk: Desk) -> Transaction:
    """A profile in which an extension starts."""
    transaction = desk._transaction
    open_first_window(transaction)
    return transaction


def first(transaction: Transaction) -> int:
    found = first_tab(transaction)
    assert found is not None
    return found


def test_an_empty_profile_gets_a_focused_window_with_one_blank_active_tab(empty: Transaction) -> None:
    (row,) = empty.tabs.find()
    focused = empty.windows.last_focused()
    assert (row.id, row.url, row.active, row.store) == (first(empty), BLANK, 1, 0)
    assert focused is not None
    assert unused_window(empty) == row.window == focused.id
    open_first_window(empty)
    assert len(empty.tabs.find()) == 1


def test_a_profile_with_a_window_gets_no_other(desk: Desk) -> None:
    transaction = desk._transaction
    open_window(transaction, cookie_store_id=WORK)
    open_first_window(transaction)
    assert len(transaction.windows.find()) == 1
    assert first_tab(transaction) is None


def test_it_leaves_nothing_behind(empty: Transaction) -> None:
    close_first_tab(empty)
    close_first_tab(empty)
    assert (empty.tabs.find(), empty.windows.find(), empty.extensions.find("tabs.first")) == ([], [], [])


USES: dict[str, Callable[[Transaction, int], object]] = {
    "navigate": lambda each, tab: navigate(each, tab, "https://a.example/"),
    "reload": reload,
    "pin": lambda each, tab: set_pinned(each, row_of(each, tab), pinned=True),
    "another window": lambda each, tab: attach(each, row_of(each, tab), open_window(each, cookie_store_id=WORK).id, 0),
}


@pytest.mark.parametrize("use", USES)
def test_a_tab_that_was_used_stays(empty: Transaction, use: str) -> None:
    tab = first(empty)
    USES[use](empty, tab)
    assert first_tab(empty) is None
    close_first_tab(empty)
    assert empty.tabs.get(tab) is not None


def test_to_activate_it_is_to_use_it(empty: Transaction) -> None:
    tab = first(empty)
    open_tab(empty, "https://a.example/", cookie_store_id=DEFAULT_COOKIE_STORE_ID)
    assert first_tab(empty) == tab
    show_and_activate(empty, row_of(empty, tab))
    assert first_tab(empty) is None


def test_tabs_beside_it_stay_when_it_goes(empty: Transaction) -> None:
    opened = open_tab(empty, "https://a.example/", cookie_store_id=WORK, active=False)
    copy = duplicate(empty, first(empty), active=False)
    assert unused_window(empty) is None
    close_first_tab(empty)
    assert {row.id for row in empty.tabs.find()} == {opened.id, copy.id}
    assert sum(row.active for row in empty.tabs.find()) == 1


def test_a_tab_of_the_user_takes_its_place_in_its_window_only(empty: Transaction) -> None:
    tab = first(empty)
    leave_first_tab(empty, open_window(empty, cookie_store_id=WORK).id)
    assert first_tab(empty) == tab
    mine = open_tab(empty, cookie_store_id=WORK, window_id=row_of(empty, tab).window)
    leave_first_tab(empty, mine.window_id)
    assert first_tab(empty) is None
    assert (tab_of(empty, row_of(empty, mine.id)).index, row_of(empty, mine.id).active) == (0, 1)


def test_one_that_was_closed_is_not_looked_for(empty: Transaction) -> None:
    close_rows(empty, [row_of(empty, first(empty))])
    assert unused_window(empty) is None
    leave_first_tab(empty, 1)
    close_first_tab(empty)
    assert first_tab(empty) is None
