from __future__ import annotations

import pytest

from hatbox import InvalidTab
from hatbox.store.base import Transaction
from hatbox.tabs.discarding import discard_tabs
from hatbox.tabs.opening import duplicate, open_tab
from hatbox.tabs.pages import PageState, navigate, navigation_started, reload, update_page
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import Tab, tab_of
from hatbox.tabs.visibility import show_and_activate
from tests.tabs.desk import WORK, Desk

URL = "https://site.example/"


def tab(desk: Desk, tab_id: int) -> Tab:
    return desk.do(lambda each: tab_of(each, row_of(each, tab_id)))


def open_discarded(desk: Desk, title: str = "") -> int:
    desk.open(WORK)
    return desk.do(open_tab, URL, cookie_store_id=WORK, active=False, discarded_title=title).id


def load(transaction: Transaction, tab_id: int, title: str) -> None:
    number = row_of(transaction, tab_id).navigation
    navigation_started(transaction, tab_id, number)
    update_page(transaction, tab_id, number, PageState(URL, title=title))


def test_a_discarded_tab_has_a_url_and_a_title_and_loads_nothing() -> None:
    desk = Desk()
    for title, shown in (("A title", "A title"), ("", URL)):
        new = tab(desk, open_discarded(desk, title))
        assert (new.url, new.title, new.discarded, new.loading, new.pending_url) == (URL, shown, True, False, "")


def test_a_discarded_tab_is_discarded_after_a_restart(tmp_path: object) -> None:
    desk = Desk(f"{tmp_path}/profile.db")
    number = open_discarded(desk)
    desk.restart()
    assert tab(desk, number).discarded


@pytest.mark.parametrize("how", ["activate", "navigate", "reload"])
def test_it_loads_when_it_is_used_and_keeps_its_title_until_then(how: str) -> None:
    desk = Desk()
    number = open_discarded(desk, "A title")
    if how == "activate":
        desk.do(lambda each: show_and_activate(each, row_of(each, number)))
    else:
        desk.do(lambda each: reload(each, number) if how == "reload" else navigate(each, number, URL))
    loading = tab(desk, number)
    assert (loading.discarded, loading.loading, loading.pending_url) == (False, True, URL)
    assert loading.title == "A title"
    desk.do(load, number, "Page")
    assert (tab(desk, number).title, tab(desk, number).loading) == ("Page", False)


def test_closing_the_active_tab_loads_the_discarded_one_that_follows() -> None:
    desk = Desk()
    number = open_discarded(desk)
    desk.close_tabs(1)
    assert (tab(desk, number).active, tab(desk, number).discarded, tab(desk, number).loading) == (True, False, True)


def test_the_active_tab_is_not_discarded_and_an_unknown_one_discards_none() -> None:
    desk = Desk()
    desk.open(WORK)
    desk.open(WORK)
    with pytest.raises(InvalidTab):
        desk.do(discard_tabs, [1, 99])
    assert not tab(desk, 1).discarded
    desk.do(discard_tabs, [1, 2])
    assert [tab(desk, 1).discarded, tab(desk, 2).discarded] == [True, False]


def test_a_page_that_was_loading_when_its_tab_was_discarded_changes_nothing_any_more() -> None:
    desk = Desk()
    desk.open(WORK)
    number = desk.do(open_tab, URL, cookie_store_id=WORK, active=False).id
    before = desk.do(lambda each: row_of(each, number)).navigation
    desk.do(lambda each: navigation_started(each, number, before))
    desk.do(discard_tabs, [number])
    desk.do(lambda each: update_page(each, number, before, PageState(f"{URL}late", title="Late")))
    assert (tab(desk, number).url, tab(desk, number).discarded, tab(desk, number).loading) == (URL, True, False)


def test_the_duplicate_of_a_discarded_tab_loads() -> None:
    desk = Desk()
    number = open_discarded(desk)
    copy = desk.do(lambda each: duplicate(each, number, active=False))
    assert (copy.discarded, copy.loading, copy.pending_url) == (False, True, URL)
