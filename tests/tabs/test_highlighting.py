from __future__ import annotations

from hatbox.tabs.highlighting import highlight_tabs, highlighted_rows, set_highlighted
from hatbox.tabs.moving import move_tabs
from hatbox.tabs.opening import open_window
from hatbox.tabs.strip import row_of
from hatbox.tabs.visibility import show_and_activate
from tests.tabs.desk import WORK, Desk


def with_tabs(count: int) -> Desk:
    desk = Desk()
    for _ in range(count):
        desk.open(WORK)
    return desk


def highlight(desk: Desk, *tab_ids: int) -> None:
    desk.do(lambda each: highlight_tabs(each, [row_of(each, tab_id) for tab_id in tab_ids]))


def highlighted(desk: Desk, window: int = 1) -> list[int]:
    return [row.id for row in desk.do(lambda each: highlighted_rows(each, window))]


def test_activating_any_tab_leaves_only_this_one_highlighted() -> None:
    desk = with_tabs(4)
    highlight(desk, 2, 4, 1)
    assert highlighted(desk) == [1, 2, 4]
    desk.do(lambda each: show_and_activate(each, row_of(each, 4)))
    assert highlighted(desk) == [4]
    desk.do(lambda each: show_and_activate(each, row_of(each, 2)))
    assert highlighted(desk) == [2]


def test_closing_hiding_or_moving_the_active_tab_ends_it() -> None:
    for leave in ("close", "hide", "move"):
        desk = with_tabs(4)
        highlight(desk, 1, 2, 3)
        if leave == "close":
            desk.close_tabs(1)
        elif leave == "hide":
            desk.hide(WORK)
            desk.show(WORK)
        else:
            window = desk.do(lambda each: open_window(each, cookie_store_id=WORK)).id
            desk.do(move_tabs, [1], -1, window)
            assert len(highlighted(desk, window)) == 1
        assert len(highlighted(desk)) == 1


def test_a_highlighted_tab_that_moves_to_another_window_is_not_highlighted_there() -> None:
    desk = with_tabs(3)
    highlight(desk, 1, 3)
    window = desk.do(lambda each: open_window(each, cookie_store_id=WORK)).id
    desk.do(move_tabs, [3], -1, window)
    assert 3 not in highlighted(desk, window)


def test_one_tab_always_stays_highlighted() -> None:
    desk = with_tabs(2)
    for tab_id in (1, 2):
        desk.do(
            lambda each, tab_id=tab_id: set_highlighted(each, row_of(each, tab_id), highlighted=False, activate=True)
        )
    assert highlighted(desk) == [2]
    highlight(desk, 1, 2)
    desk.do(lambda each: set_highlighted(each, row_of(each, 1), highlighted=False, activate=True))
    assert highlighted(desk) == [2]
