from __future__ import annotations

import pytest

from hatbox import InvalidTab, InvalidWindow
from hatbox.tabs.moving import move_tabs, set_pinned
from hatbox.tabs.strip import row_of
from hatbox.tabs.visibility import hide_tabs
from tests.tabs.desk import WORK, Desk


def desk_with(count: int, pinned: int = 0) -> Desk:
    desk = Desk()
    for _ in range(count):
        desk.open()
    for tab_id in range(1, pinned + 1):
        pin(desk, tab_id)
    _ = desk.heard
    return desk


def pin(desk: Desk, tab_id: int, *, pinned: bool = True) -> None:
    desk.do(lambda each: set_pinned(each, row_of(each, tab_id), pinned=pinned))


def move(desk: Desk, tab_ids: list[int], index: int, window_id: int | None = None) -> list[int]:
    return [tab.id for tab in desk.do(move_tabs, tab_ids, index, window_id)]


@pytest.mark.parametrize(
    ("tab_ids", "index", "picture"),
    [
        ([4], 0, "4 1 2 3 *5"),
        ([1], 2, "2 3 1 4 *5"),
        ([1], -1, "2 3 4 *5 1"),
        ([1], 99, "2 3 4 *5 1"),
        ([3, 1], 0, "3 1 2 4 *5"),
        ([1, 3], 2, "2 1 3 4 *5"),
        ([1, 2], 4, "3 4 *5 1 2"),
        ([4, 5], 1, "1 4 *5 2 3"),
        ([2, 2], 3, "1 3 4 2 *5"),
    ],
)
def test_several_land_side_by_side_where_asked(tab_ids: list[int], index: int, picture: str) -> None:
    desk = desk_with(5)
    assert move(desk, tab_ids, index) == tab_ids
    assert desk.picture == [picture]


def test_each_move_is_told_and_one_to_the_same_place_is_not() -> None:
    desk = desk_with(3)
    assert move(desk, [1, 2], 0) == [1, 2]
    assert desk.heard == []
    move(desk, [3, 1], 0)
    assert desk.heard == ["moved 3 2→0"]
    assert desk.picture == ["*3 1 2"]


@pytest.mark.parametrize(
    ("tab_id", "index", "moved", "picture"),
    [
        (1, 1, [1], "^2 ^1 3 *4"),
        (1, 2, [1], "^2 ^1 3 *4"),
        (1, 3, [], "^1 ^2 3 *4"),
        (1, -1, [], "^1 ^2 3 *4"),
        (4, 1, [], "^1 ^2 3 *4"),
        (4, 2, [4], "^1 ^2 *4 3"),
    ],
)
def test_pinned_tabs_stay_first_and_what_would_break_that_is_left_out(
    tab_id: int, index: int, moved: list[int], picture: str
) -> None:
    desk = desk_with(4, pinned=2)
    assert move(desk, [tab_id], index) == moved
    assert desk.picture == [picture]


def test_a_lone_tab_does_not_move_in_its_window() -> None:
    desk = desk_with(1)
    assert move(desk, [1], 0) == []


def test_in_another_window_a_tab_keeps_its_id_and_is_not_active() -> None:
    desk = desk_with(3)
    window = desk.open_window()
    _ = desk.heard
    assert move(desk, [3], 0, window) == [3]
    assert desk.picture == ["1 *2", "3 *4"]
    assert desk.heard == ["detached 3 window 1 at 2", "attached 3 window 2 at 0", "activated 2 after None"]


def test_a_window_whose_last_tab_has_moved_away_is_closed() -> None:
    desk = desk_with(1)
    window = desk.open_window()
    _ = desk.heard
    move(desk, [1], -1, window)
    assert desk.picture == ["*2 1"]
    assert desk.heard == ["detached 1 window 1 at 0", "attached 1 window 2 at 1", "windows.removed 1"]


def test_a_pinned_tab_is_pinned_in_the_other_window_too() -> None:
    desk = desk_with(2, pinned=1)
    window = desk.open_window()
    assert move(desk, [1], 1, window) == []
    assert move(desk, [1], 0, window) == [1]
    assert desk.picture == ["*2", "^1 *3"]


def test_a_hidden_tab_stays_hidden_in_the_other_window() -> None:
    desk = desk_with(1)
    desk.open(WORK, active=False)
    desk.hide(WORK)
    window = desk.open_window()
    move(desk, [2], 0, window)
    assert desk.picture == ["*1", "-2 *3"]


def test_a_tab_that_comes_to_a_window_without_a_visible_one_is_active_there() -> None:
    desk = desk_with(2)
    window = desk.open_window(store=WORK)
    desk.hide(WORK)
    move(desk, [1], 0, window)
    assert desk.picture == ["*2", "*1 -3"]


def test_when_something_does_not_exist_nothing_moves() -> None:
    desk = desk_with(3)
    with pytest.raises(InvalidTab):
        move(desk, [3, 99], 0)
    with pytest.raises(InvalidWindow):
        move(desk, [3], 0, 99)
    assert desk.picture == ["1 2 *3"]


def test_pinning_moves_a_tab_behind_the_pinned_ones_and_unpinning_before_the_others() -> None:
    desk = desk_with(4, pinned=2)
    pin(desk, 4)
    assert desk.picture == ["^1 ^2 ^*4 3"]
    assert desk.heard == ["moved 4 3→2", "updated 4 pinned=true"]
    pin(desk, 4)
    assert desk.heard == []
    pin(desk, 1, pinned=False)
    assert desk.picture == ["^2 ^*4 1 3"]
    assert desk.heard == ["moved 1 0→2", "updated 1 pinned=false"]
    pin(desk, 4, pinned=False)
    assert desk.heard == ["updated 4 pinned=false"]


def test_pinning_a_hidden_tab_shows_it_and_its_identity() -> None:
    desk = desk_with(2)
    desk.open(WORK, active=False)
    desk.do(hide_tabs, [1])
    _ = desk.heard
    pin(desk, 1)
    assert desk.heard == ["updated 1 hidden=false", "updated 1 pinned=true"]
    desk.hide(WORK)
    pin(desk, 3)
    assert desk.picture == ["^1 ^3 *2"]
    assert not desk.is_hidden(WORK)


def test_a_tab_that_is_shown_by_pinning_is_active_where_no_other_is_visible() -> None:
    desk = Desk()
    desk.open(WORK)
    desk.open(active=False)
    desk.do(hide_tabs, [2])
    desk.hide(WORK)
    assert desk.picture == ["-1 -2"]
    pin(desk, 2)
    assert desk.picture == ["^*2 -1"]


def test_in_another_window_a_tab_has_no_opener_and_is_nobodys_opener_any_more() -> None:
    desk = desk_with(1)
    desk.open(opener_id=1)
    desk.open(opener_id=2)
    window = desk.open_window()
    move(desk, [2], 0, window)
    assert (desk.tab(2).opener_id, desk.tab(3).opener_id) == (None, None)
