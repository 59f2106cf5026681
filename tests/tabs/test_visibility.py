from __future__ import annotations

import pytest

from hatbox import InvalidTab
from hatbox.tabs.moving import set_pinned
from hatbox.tabs.strip import change, row_of
from hatbox.tabs.visibility import hide_tabs, show_tabs
from tests.tabs.desk import PERSONAL, WORK, Desk


def test_all_tabs_of_an_identity_are_hidden_active_and_pinned_ones_too_and_shown_in_their_places() -> None:
    desk = Desk()
    for store in (WORK, PERSONAL, WORK, PERSONAL, WORK):
        desk.open(store)
    desk.do(lambda each: set_pinned(each, row_of(each, 1), pinned=True))
    before = desk.picture
    assert before == ["^1 2 3 4 *5"]
    desk.hide(WORK)
    assert desk.picture == ["^-1 2 -3 *4 -5"]
    desk.show(WORK)
    assert desk.picture == ["^1 2 3 *4 5"]


def test_hiding_and_showing_is_told_once_for_each_tab_and_another_tab_is_active_first() -> None:
    desk = Desk()
    for store in (PERSONAL, WORK, WORK):
        desk.open(store)
    _ = desk.heard
    desk.hide(WORK)
    hidden = [f"identities.hidden {WORK}", "activated 1 after 3", "updated 2 hidden=true", "updated 3 hidden=true"]
    assert desk.heard == hidden
    desk.hide(WORK)
    assert desk.heard == []
    desk.show(WORK)
    assert desk.heard == [f"identities.shown {WORK}", "updated 2 hidden=false", "updated 3 hidden=false"]
    desk.show(WORK)
    assert desk.heard == []


@pytest.mark.parametrize(
    ("stores", "active", "picture"),
    [
        ("ppwpp", 3, "1 2 -3 *4 5"),  # as near on both sides: to the right
        ("pwwp", 2, "*1 -2 -3 4"),
        ("pwwp", 3, "1 -2 -3 *4"),
        ("ppww", 4, "1 *2 -3 -4"),
        ("wwwp", 1, "-1 -2 -3 *4"),
    ],
)
def test_hiding_the_active_tab_activates_the_nearest_visible_one(stores: str, active: int, picture: str) -> None:
    desk = Desk()
    for letter in stores:
        desk.open({"p": PERSONAL, "w": WORK}[letter])
    desk.activate(active)
    desk.hide(WORK)
    assert desk.picture == [picture]


def test_where_nothing_visible_is_left_nothing_is_active_until_the_one_that_was_active_last_is_shown() -> None:
    desk = Desk()
    for _ in range(3):
        desk.open(WORK)
    desk.open(PERSONAL, active=False)
    desk.activate(2)
    desk.hide(PERSONAL)
    _ = desk.heard
    desk.hide(WORK)
    assert desk.picture == ["-1 -2 -3 -4"]
    assert not any("activated" in told for told in desk.heard)
    desk.show(WORK)
    assert desk.picture == ["1 *2 3 -4"]
    assert desk.heard[-1] == "activated 2 after None"


def test_a_window_of_one_identity_stays_when_the_identity_is_hidden() -> None:
    desk = Desk()
    desk.open()
    desk.open_window("http://a.example/", "http://b.example/", store=WORK)
    desk.hide(WORK)
    assert desk.picture == ["*1", "-2 -3"]
    desk.show(WORK)
    assert desk.picture == ["*1", "*2 3"]


def test_removing_an_identity_closes_its_tabs_visible_or_not() -> None:
    desk = Desk()
    desk.open(PERSONAL)
    desk.open(WORK)
    desk.open_window(store=WORK)
    _ = desk.heard
    desk.remove(WORK)
    assert desk.picture == ["*1"]
    assert desk.heard == [
        "removed 2",
        "activated 1 after None",
        "removed 3 with its window",
        "windows.removed 2",
        "windows.focused -1",
        "windows.focused 1",
        "cookies.gone 2",
        f"identities.removed {WORK}",
    ]
    desk.open(PERSONAL, active=False)
    desk.hide(PERSONAL)
    desk.remove(PERSONAL)
    assert desk.picture == []


def test_an_extension_hides_what_is_neither_active_nor_pinned_nor_hidden() -> None:
    desk = Desk()
    for _ in range(4):
        desk.open()
    desk.do(lambda each: set_pinned(each, row_of(each, 1), pinned=True))
    assert desk.do(hide_tabs, [4, 3, 1, 2, 3]) == [3, 2]
    assert desk.picture == ["^1 -2 -3 *4"]
    assert desk.do(hide_tabs, [2]) == []
    with pytest.raises(InvalidTab):
        desk.do(hide_tabs, [4, 99])
    desk.do(show_tabs, [3, 4, 3])
    assert desk.picture == ["^1 -2 3 *4"]
    with pytest.raises(InvalidTab):
        desk.do(show_tabs, [2, 99])
    assert desk.picture == ["^1 -2 3 *4"]


def test_a_hidden_tab_succeeds_nobody() -> None:
    desk = Desk()
    for _ in range(3):
        desk.open()
    desk.do(lambda each: change(each, row_of(each, 3), successor=1))
    desk.do(hide_tabs, [1])
    assert desk.tab(3).successor_id is None


@pytest.mark.parametrize("how", ["show", "activate"])
def test_showing_or_activating_one_tab_of_a_hidden_identity_shows_the_identity(how: str) -> None:
    desk = Desk()
    for store in (PERSONAL, WORK, WORK):
        desk.open(store)
    desk.hide(WORK)
    _ = desk.heard
    if how == "show":
        desk.do(show_tabs, [2])
    else:
        desk.activate(2)
    assert not desk.is_hidden(WORK)
    assert desk.heard[:3] == [f"identities.shown {WORK}", "updated 2 hidden=false", "updated 3 hidden=false"]
    assert not any(tab.hidden for tab in desk.tabs())


def test_tabs_that_an_extension_has_hidden_are_shown_with_their_identity() -> None:
    desk = Desk()
    for store in (PERSONAL, WORK, WORK):
        desk.open(store)
    desk.do(hide_tabs, [2])
    desk.hide(WORK)
    desk.show(WORK)
    assert desk.picture == ["*1 2 3"]
