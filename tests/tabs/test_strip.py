"""Which tab is active, and what closing does."""

from __future__ import annotations

import time

import pytest

from hatbox import InvalidTab
from hatbox.tabs.opening import duplicate
from hatbox.tabs.strip import change, row_of
from hatbox.tabs.visibility import hide_tabs
from tests.tabs.desk import WORK, Desk


def desk_with(count: int) -> Desk:
    desk = Desk()
    for _ in range(count):
        desk.open()
    return desk


def set_successor(desk: Desk, tab_id: int, successor: int) -> None:
    desk.do(lambda each: change(each, row_of(each, tab_id), successor=successor))


def test_one_tab_of_a_window_is_active_and_who_was_before_is_told() -> None:
    desk = desk_with(3)
    _ = desk.heard
    desk.activate(1)
    desk.activate(1)
    assert desk.picture == ["*1 2 3"]
    assert desk.heard == ["activated 1 after 3"]


def test_activating_a_hidden_tab_shows_it_first() -> None:
    desk = desk_with(3)
    desk.do(hide_tabs, [1])
    _ = desk.heard
    desk.activate(1)
    assert desk.picture == ["*1 2 3"]
    assert desk.heard == ["updated 1 hidden=false", "activated 1 after 3"]


def test_when_the_active_tab_is_closed_the_next_one_to_the_right_is_active_else_to_the_left() -> None:
    desk = desk_with(4)
    desk.activate(2)
    desk.do(hide_tabs, [3])
    _ = desk.heard
    desk.close_tabs(2)
    assert desk.picture == ["1 -3 *4"]
    assert desk.heard == ["removed 2", "activated 4 after None"]
    desk.close_tabs(4)
    assert desk.picture == ["*1 -3"]


def test_closing_another_tab_leaves_the_active_one_alone() -> None:
    desk = desk_with(3)
    _ = desk.heard
    desk.close_tabs(1)
    assert desk.picture == ["2 *3"]
    assert desk.heard == ["removed 1"]


def test_a_tab_that_was_opened_from_another_leads_back_to_it() -> None:
    desk = desk_with(3)
    desk.activate(1)
    desk.open(opener_id=1, index=99)
    assert desk.picture == ["1 2 3 *4"]
    desk.close_tabs(4)
    assert desk.picture == ["*1 2 3"]


def test_it_does_not_lead_back_any_more_once_another_tab_was_active() -> None:
    desk = desk_with(3)
    desk.activate(1)
    desk.open(opener_id=1, index=2)
    desk.activate(3)
    desk.activate(4)
    desk.close_tabs(4)
    assert desk.picture == ["1 2 *3"]


def test_a_duplicate_of_the_active_tab_leads_back_to_it() -> None:
    desk = desk_with(2)
    desk.activate(1)
    desk.do(duplicate, 1)
    assert desk.picture == ["1 *3 2"]
    desk.close_tabs(3)
    assert desk.picture == ["*1 2"]


def test_a_successor_goes_before_all_others() -> None:
    desk = desk_with(4)
    set_successor(desk, 4, 1)
    desk.close_tabs(4)
    assert desk.picture == ["*1 2 3"]


def test_who_had_a_closed_tab_as_successor_gets_the_one_after_it() -> None:
    desk = desk_with(4)
    set_successor(desk, 4, 3)
    set_successor(desk, 3, 1)
    desk.close_tabs(3)
    assert desk.tab(4).successor_id == 1
    desk.close_tabs(4)
    assert desk.picture == ["*1 2"]


def test_several_are_closed_in_the_order_asked_for_the_active_one_last() -> None:
    desk = desk_with(5)
    desk.activate(3)
    _ = desk.heard
    desk.close_tabs(3, 4, 1)
    assert desk.picture == ["2 *5"]
    assert desk.heard == ["removed 4", "removed 1", "removed 3", "activated 5 after None"]


def test_when_one_of_several_does_not_exist_nothing_is_closed() -> None:
    desk = desk_with(2)
    with pytest.raises(InvalidTab):
        desk.close_tabs(1, 99)
    assert desk.picture == ["1 *2"]


def test_with_its_last_tab_a_window_is_closed_and_the_focus_goes_to_the_one_before() -> None:
    desk = desk_with(1)
    desk.open_window("http://a.example/", "http://b.example/")
    _ = desk.heard
    desk.close_tabs(3, 2)
    assert desk.picture == ["*1"]
    assert desk.heard == [
        "removed 2 with its window",
        "removed 3 with its window",
        "windows.removed 2",
        "windows.focused -1",
        "windows.focused 1",
    ]
    desk.close_tabs(1)
    assert desk.picture == []
    assert desk.heard == ["removed 1 with its window", "windows.removed 1", "windows.focused -1"]


def test_hidden_tabs_outlive_the_last_visible_one() -> None:
    desk = desk_with(1)
    desk.open(WORK, active=False)
    desk.hide(WORK)
    desk.close_tabs(1)
    assert desk.picture == ["-2"]
    desk.show(WORK)
    assert desk.picture == ["*2"]


def test_what_was_opened_from_a_closed_tab_has_no_opener_any_more() -> None:
    desk = desk_with(1)
    desk.open(opener_id=1)
    desk.close_tabs(1)
    assert desk.tab(2).opener_id is None


def test_two_tabs_are_never_accessed_at_the_same_time() -> None:
    desk = desk_with(3)
    for tab_id in (1, 2, 3, 1):
        desk.activate(tab_id)
    times = [tab.last_accessed for tab in desk.tabs()]
    assert sorted(times) == sorted(set(times))
    assert max(times) == desk.tab(1).last_accessed


def test_the_time_of_access_is_now_and_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_with(2)
    assert abs(desk.tab(2).last_accessed - time.time()) < 60
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: 0.0)
        desk.activate(1)
    assert desk.tab(1).last_accessed > desk.tab(2).last_accessed
