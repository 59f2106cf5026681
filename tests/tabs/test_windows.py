from __future__ import annotations

from typing import Any

import pytest

from hatbox import InvalidWindow
from hatbox.tabs import windows
from tests.tabs.desk import Desk


def focused(desk: Desk) -> list[int]:
    return [window.id for window in desk.do(windows.get_windows) if window.focused]


def test_a_new_window_has_the_focus_and_one_at_most_has_it() -> None:
    desk = Desk()
    assert desk.do(windows.last_focused) is None
    first = desk.open_window()
    second = desk.open_window()
    assert focused(desk) == [second]
    _ = desk.heard
    desk.do(windows.focus_window, first)
    desk.do(windows.focus_window, first)
    assert focused(desk) == [first]
    assert desk.heard == ["windows.focused -1", f"windows.focused {first}"]


def test_a_new_window_looks_as_the_last_one_but_is_not_minimized() -> None:
    desk = Desk()
    first = desk.open_window()
    for state, expected in (("maximized", "maximized"), ("minimized", "normal"), ("fullscreen", "normal")):
        desk.do(windows.update_window, first, state=state)
        desk.do(windows.focus_window, first)
        assert desk.do(windows.get_window, desk.open_window()).state == expected


def test_what_changes_of_a_window_is_kept_and_told() -> None:
    desk = Desk()
    window = desk.open_window()
    _ = desk.heard
    changed = desk.do(windows.update_window, window, left=1, top=2, width=3, height=4, title_preface="x ")
    assert (changed.left, changed.top, changed.width, changed.height, changed.title_preface) == (1, 2, 3, 4, "x ")
    desk.do(windows.update_window, window)
    assert desk.heard == [f"windows.updated {window}"]


def test_a_window_is_closed_with_all_tabs_hidden_ones_too() -> None:
    desk = Desk()
    desk.open()
    desk.open_window("http://a.example/", "http://b.example/", store="firefox-container-1")
    desk.hide("firefox-container-1")
    _ = desk.heard
    desk.do(windows.close_window, 2)
    assert desk.picture == ["*1"]
    assert desk.heard[:2] == ["removed 2 with its window", "removed 3 with its window"]


@pytest.mark.parametrize(
    "rule", [windows.get_window, windows.focus_window, windows.close_window, windows.update_window]
)
def test_a_window_that_does_not_exist_is_named(rule: Any) -> None:
    with pytest.raises(InvalidWindow, match=r"^Invalid window ID: 7$"):
        Desk().do(rule, 7)
