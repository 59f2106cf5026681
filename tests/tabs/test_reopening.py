"""A URL is opened in another identity, beside the tab in which it was requested."""

from __future__ import annotations

import pytest

from hatbox import InvalidIdentity
from hatbox.store.base import Transaction
from hatbox.tabs.moving import set_pinned
from hatbox.tabs.named_identity import is_identity_named, mark_identity_named
from hatbox.tabs.pages import PageState, navigate, update_page
from hatbox.tabs.reopening import reopen_tab
from hatbox.tabs.strip import row_of
from tests.tabs.desk import WORK, Desk

URL = "http://site.example/"


def load(desk: Desk, tab_id: int) -> None:
    navigation = desk.tab(tab_id).navigation_id
    desk.do(lambda each: update_page(each, tab_id, navigation, PageState("http://other.example/")))


def test_a_tab_that_was_opened_for_the_url_is_replaced_in_its_place() -> None:
    desk = Desk()
    desk.open()
    desk.open(url=URL)
    desk.open(active=False)
    _ = desk.heard
    desk.do(lambda each: reopen_tab(each, 2, URL, WORK))
    assert desk.picture == ["1 *4 3"]
    assert desk.heard == ["created 4 active", "activated 4 after 2", "removed 2"]
    new = desk.tab(4)
    assert (new.cookie_store_id, new.pending_url, new.navigation_id) == (WORK, URL, 1)


def test_a_tab_with_a_page_stays_and_the_new_tab_is_beside_it() -> None:
    desk = Desk()
    first = desk.open(url="http://other.example/")
    load(desk, first)
    desk.open(active=False)
    desk.do(lambda each: navigate(each, first, URL))
    desk.do(lambda each: reopen_tab(each, first, URL, WORK))
    assert desk.picture == ["1 *3 2"]
    assert desk.tab(3).opener_id == first
    assert desk.tab(first).url == "http://other.example/"


def test_a_tab_in_the_background_is_replaced_in_the_background() -> None:
    desk = Desk()
    desk.open()
    desk.open(url=URL, active=False)
    desk.do(lambda each: reopen_tab(each, 2, URL, WORK))
    assert desk.picture == ["*1 3"]


def test_a_pinned_tab_stays_pinned_if_it_is_replaced() -> None:
    desk = Desk()
    desk.open(url=URL)
    desk.do(lambda each: set_pinned(each, row_of(each, 1), pinned=True))
    desk.do(lambda each: reopen_tab(each, 1, URL, WORK))
    assert desk.picture == ["^*2"]


def test_nothing_is_opened_for_a_closed_tab_or_in_a_removed_identity() -> None:
    desk = Desk()
    desk.open(url=URL)
    assert desk.do(lambda each: reopen_tab(each, 99, URL, WORK)) is None
    with pytest.raises(InvalidIdentity):
        desk.do(lambda each: reopen_tab(each, 1, URL, "firefox-container-99"))
    assert desk.picture == ["*1"]


def test_a_hidden_identity_is_shown() -> None:
    desk = Desk()
    desk.open(url=URL)
    desk.hide(WORK)
    desk.do(lambda each: reopen_tab(each, 1, URL, WORK))
    assert desk.picture == ["*2"]


def test_the_default_store_is_named_only_if_the_caller_has_named_it() -> None:
    desk = Desk()
    for _ in range(2):
        desk.open(url=URL)
    desk.open(WORK, URL)
    desk.do(lambda each: mark_identity_named(each, 2, "firefox-default"))
    named = [desk.do(_is_named, tab) for tab in (1, 2, 3)]
    assert named == [False, True, True]


def _is_named(transaction: Transaction, tab_id: int) -> bool:
    return is_identity_named(transaction, row_of(transaction, tab_id))
