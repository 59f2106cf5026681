from __future__ import annotations

import pytest

from hatbox import InvalidIdentity, InvalidTab, InvalidWindow
from hatbox.tabs.moving import set_pinned
from hatbox.tabs.opening import duplicate
from hatbox.tabs.pages import PageState, update_page
from hatbox.tabs.strip import row_of
from hatbox.tabs.visibility import hide_tabs
from tests.tabs.desk import WORK, Desk


def pin(desk: Desk, tab_id: int) -> None:
    desk.do(lambda each: set_pinned(each, row_of(each, tab_id), pinned=True))


def test_the_first_tab_brings_its_window() -> None:
    desk = Desk()
    desk.open()
    assert desk.picture == ["*1"]
    assert desk.heard == ["windows.created 1", "windows.focused 1", "created 1 active", "activated 1 after None"]


def test_a_new_tab_goes_to_the_end_and_is_active_unless_it_should_not_be() -> None:
    desk = Desk()
    desk.open()
    desk.open(active=False)
    assert desk.picture == ["*1 2"]
    _ = desk.heard
    desk.open()
    assert desk.picture == ["1 2 *3"]
    assert desk.heard == ["created 3 active", "activated 3 after 1"]


def test_a_page_that_is_asked_for_is_not_there_yet() -> None:
    desk = Desk()
    tab = desk.tab(desk.open(url="http://www.site.example/page"))
    assert (tab.url, tab.status, tab.display_title) == ("about:blank", "complete", "site.example/page")
    assert (tab.loading, tab.pending_url, tab.navigation_id) == (True, "http://www.site.example/page", 1)
    blank = desk.tab(desk.open())
    assert (blank.url, blank.display_title, blank.loading) == ("about:blank", "New Tab", False)


@pytest.mark.parametrize(
    ("index", "pinned", "picture"),
    [
        (0, False, "^1 ^2 *5 3 4"),
        (3, False, "^1 ^2 3 *5 4"),
        (99, False, "^1 ^2 3 4 *5"),
        (0, True, "^*5 ^1 ^2 3 4"),
        (99, True, "^1 ^2 ^*5 3 4"),
        (None, True, "^1 ^2 ^*5 3 4"),
    ],
)
def test_a_new_tab_goes_where_it_may_be_pinned_ones_first(index: int | None, pinned: bool, picture: str) -> None:
    desk = Desk()
    for _ in range(4):
        desk.open()
    pin(desk, 1)
    pin(desk, 2)
    _ = desk.heard
    desk.open(index=index, pinned=pinned)
    assert desk.picture == [picture]
    expected = ["created 5 active", *["updated 5 pinned=true"] * pinned, "activated 5 after 4"]
    assert desk.heard == expected


def test_tabs_that_are_opened_from_another_line_up_behind_it_until_another_tab_is_looked_at() -> None:
    desk = Desk()
    desk.open()
    desk.open(active=False)
    desk.open(opener_id=1, active=False)
    desk.open(opener_id=1, active=False)
    assert desk.picture == ["*1 3 4 2"]
    desk.activate(2)
    desk.activate(1)
    desk.open(opener_id=1, active=False)
    assert desk.picture == ["*1 5 3 4 2"]
    desk.open(opener_id=1, active=False, index=0)
    assert desk.picture == ["6 *1 5 3 4 2"]
    assert desk.tab(6).opener_id == 1


def test_no_tab_is_put_behind_one_that_is_hidden() -> None:
    desk = Desk()
    for _ in range(3):
        desk.open()
    desk.do(hide_tabs, [1])
    desk.open(opener_id=1)
    assert desk.picture == ["-1 2 3 *4"]


def test_a_tab_that_is_opened_in_a_hidden_identity_shows_the_identity_first() -> None:
    desk = Desk()
    desk.open()
    desk.open(WORK)
    desk.hide(WORK)
    assert desk.picture == ["*1 -2"]
    _ = desk.heard
    desk.open(WORK, active=False)
    assert not desk.is_hidden(WORK)
    assert desk.picture == ["*1 2 3"]
    assert desk.heard == [f"identities.shown {WORK}", "updated 2 hidden=false", "created 3"]


def test_where_no_tab_is_visible_a_new_one_is_active_in_any_case() -> None:
    desk = Desk()
    desk.open(WORK)
    desk.hide(WORK)
    assert desk.picture == ["-1"]
    desk.open(active=False)
    assert desk.picture == ["-1 *2"]


def test_a_new_tab_does_not_go_to_a_popup_unless_it_is_named() -> None:
    desk = Desk()
    desk.open()
    popup = desk.do(lambda each: each.windows.insert(kind="popup"))
    desk.open(window_id=popup)
    desk.do(lambda each: each.windows.focus(popup))
    desk.open()
    assert desk.picture == ["1 *3", "*2"]


def test_nothing_is_opened_where_something_does_not_exist() -> None:
    desk = Desk()
    desk.open()
    for wrong in ("firefox-container-99", "nonsense"):
        with pytest.raises(InvalidIdentity):
            desk.open(wrong)
    with pytest.raises(InvalidWindow, match=r"^Invalid window ID: 99$"):
        desk.open(window_id=99)
    with pytest.raises(InvalidTab, match=r"^Invalid tab ID: 99$"):
        desk.open(opener_id=99)
    assert desk.picture == ["*1"]


def test_a_window_is_told_of_after_its_first_tab_and_its_other_tabs_after_it() -> None:
    desk = Desk()
    desk.open()
    _ = desk.heard
    window = desk.open_window("http://a.example/", "http://b.example/", store=WORK)
    assert desk.picture == ["*1", "*2 3"]
    assert {desk.tab(each).cookie_store_id for each in (2, 3)} == {WORK}
    assert desk.heard == [
        "created 2 active",
        "activated 2 after None",
        f"windows.created {window}",
        "windows.focused -1",
        f"windows.focused {window}",
        "created 3",
    ]


def test_the_duplicate_of_the_active_tab_goes_behind_it_and_of_any_other_to_the_end() -> None:
    desk = Desk()
    for _ in range(3):
        desk.open()
    desk.activate(1)
    desk.do(duplicate, 1, active=False)
    assert desk.picture == ["*1 4 2 3"]
    assert desk.do(duplicate, 2).opener_id is None
    assert desk.picture == ["1 4 2 3 *5"]
    desk.do(duplicate, 5, index=-1)
    assert desk.picture == ["*6 1 4 2 3 5"]


def test_a_duplicate_has_the_page_and_the_identity_but_is_not_pinned() -> None:
    desk = Desk()
    desk.open()
    desk.open(WORK, url="http://site.example/", opener_id=1)
    desk.do(update_page, 2, 1, PageState("http://site.example/x", "Title", "http://site.example/i"))
    desk.do(lambda each: each.tabs.save_page_snapshot(2, b"page"))
    pin(desk, 2)
    copy = desk.do(duplicate, 2)
    assert desk.picture == ["^2 *3 1"]
    assert (copy.cookie_store_id, copy.url, copy.title, copy.opener_id) == (
        WORK,
        "http://site.example/x",
        "Title",
        2,
    )
    assert (copy.status, copy.pending_url) == ("loading", "http://site.example/x")
    assert desk.do(lambda each: each.tabs.page_snapshot(3)) == b"page"


def test_the_duplicate_of_a_hidden_tab_is_hidden_if_it_is_not_active() -> None:
    desk = Desk()
    desk.open()
    desk.open(active=False)
    desk.do(hide_tabs, [2])
    _ = desk.heard
    desk.do(duplicate, 2, active=False)
    assert desk.picture == ["*1 -2 -3"]
    assert desk.heard == ["created 3", "updated 3 hidden=true"]
    desk.do(duplicate, 2)
    assert desk.picture == ["1 -2 -3 *4"]


def test_a_duplicate_in_a_hidden_identity_shows_the_identity() -> None:
    desk = Desk()
    desk.open()
    desk.open(WORK, active=False)
    desk.hide(WORK)
    desk.do(duplicate, 2, active=False)
    assert desk.picture == ["*1 2 3"]
