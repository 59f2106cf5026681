from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hatbox import ApiError
from hatbox.store.base import NO_GROUP, Transaction
from hatbox.tabs.grouping import add_to_group, group_tabs, move_group, ungroup_tabs, update_group
from hatbox.tabs.moving import move_tabs, set_pinned
from hatbox.tabs.opening import duplicate, open_window
from hatbox.tabs.strip import row_of, rows_of
from hatbox.tabs.tab_groups import TabGroup, find_groups, get_group
from hatbox.tabs.tab_model import Tab, all_tabs
from hatbox.tabs.visibility import hide_tabs
from tests.tabs.desk import PERSONAL, WORK, Desk


def with_tabs(count: int, path: Path | str = ":memory:") -> Desk:
    desk = Desk(path)
    for _ in range(count):
        desk.open(WORK)
    return desk


def group(desk: Desk, *tab_ids: int) -> TabGroup:
    return desk.do(lambda each: group_tabs(each, rows_of(each, tab_ids), row_of(each, tab_ids[0]).window))


def strip(desk: Desk) -> list[tuple[int, int]]:
    return [(tab.id, tab.group_id) for tab in desk.do(all_tabs)]


def test_a_group_is_the_same_after_a_restart(tmp_path: Path) -> None:
    desk = with_tabs(4, tmp_path / "profile.db")
    made = group(desk, 2, 4)
    desk.do(lambda each: update_group(each, made, collapsed=True, color="red", title="Trip"))
    desk.restart()
    (found,) = desk.do(find_groups)
    assert (found.title, found.color, found.collapsed) == ("Trip", "red", True)
    assert strip(desk) == [(1, NO_GROUP), (2, made.id), (4, made.id), (3, NO_GROUP)]


def test_the_id_of_a_group_is_never_used_again() -> None:
    desk = with_tabs(2)
    first = group(desk, 1)
    desk.do(lambda each: ungroup_tabs(each, [row_of(each, 1)]))
    assert desk.do(find_groups) == []
    assert group(desk, 1).id > first.id


def test_a_group_whose_tabs_were_lost_does_not_exist() -> None:
    desk = with_tabs(2)
    made = group(desk, 1)
    desk.do(lambda each: each.tabs.update(1, tab_group=NO_GROUP))
    with pytest.raises(ApiError, match=f"No group with id: {made.id}"):
        desk.do(lambda each: add_to_group(each, rows_of(each, [2]), made))


def test_removing_an_identity_removes_its_groups() -> None:
    desk = with_tabs(2)
    desk.open(PERSONAL)
    group(desk, 1, 2)
    desk.remove(WORK)
    assert desk.do(find_groups) == []


def test_hidden_tabs_stay_between_the_tabs_of_their_group() -> None:
    desk = with_tabs(5)
    made = group(desk, 1, 2)
    desk.do(hide_tabs, [2])
    desk.do(move_tabs, [4], 1)
    assert strip(desk)[:3] == [(1, made.id), (4, made.id), (2, made.id)]


def test_a_long_title_is_cut_and_a_refused_move_changes_nothing() -> None:
    desk = with_tabs(5)
    made, other = group(desk, 1, 2), group(desk, 3, 4)
    long = desk.do(lambda each: update_group(each, made, collapsed=None, color=None, title="x" * 10_000))
    assert len(long.title) == 4096
    before = strip(desk)
    with pytest.raises(ApiError, match="in the middle of another group"):
        desk.do(lambda each: move_group(each, get_group(each, other.id) or other, 1, 1))
    assert strip(desk) == before


actions = st.tuples(
    st.sampled_from(["group", "add", "ungroup", "move", "move_group", "pin", "close", "duplicate", "hide", "window"]),
    st.lists(st.integers(0, 50), min_size=1, max_size=3),
    st.integers(-1, 8),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(actions, max_size=25))
@example([("group", [0], 0), ("duplicate", [0], 1), ("group", [0], 0), ("duplicate", [0], 0)])
def test_the_tabs_of_a_group_are_always_adjacent_and_a_group_always_has_tabs(
    steps: list[tuple[str, list[int], int]],
) -> None:
    desk = with_tabs(8)
    try:
        for kind, choices, index in steps:
            tabs = desk.do(all_tabs)
            ids = list(dict.fromkeys(tabs[choice % len(tabs)].id for choice in choices))
            desk.do(_act, kind, ids, index)
            _check(desk.do(all_tabs), desk.do(find_groups))
    finally:
        desk.close()


def _act(transaction: Transaction, kind: str, ids: list[int], index: int) -> None:
    groups = find_groups(transaction)
    chosen = groups[index % len(groups)] if groups else None
    windows = transaction.windows.find()
    window = windows[index % len(windows)].id
    rows = rows_of(transaction, ids)
    match kind:
        case "group":
            group_tabs(transaction, rows, window)
        case "add" if chosen is not None:
            add_to_group(transaction, rows, chosen)
        case "ungroup":
            ungroup_tabs(transaction, rows)
        case "move":
            move_tabs(transaction, ids, index, window if len(ids) == 1 else None)
        case "move_group" if chosen is not None:
            try:
                move_group(transaction, chosen, window, index)
            except ApiError as error:
                assert "Cannot move the group" in str(error)
        case "pin":
            set_pinned(transaction, rows[0], pinned=not rows[0].pinned)
        case "close" if transaction.tabs.count(rows[0].window) > 2:
            from hatbox.tabs.strip import close_rows

            close_rows(transaction, rows[:1])
        case "duplicate":
            duplicate(transaction, ids[0], active=index % 2 == 0)
        case "hide":
            hide_tabs(transaction, ids)
        case "window" if len(windows) < 3:
            open_window(transaction, cookie_store_id=WORK)


def _check(tabs: list[Tab], groups: list[TabGroup]) -> None:
    places: dict[int, list[tuple[int, int]]] = {}
    for tab in tabs:
        if tab.group_id != NO_GROUP:
            assert not tab.pinned
            places.setdefault(tab.group_id, []).append((tab.window_id, tab.index))
    assert places.keys() == {each.id for each in groups}
    for each in groups:
        found = places[each.id]
        assert {window for window, _ in found} == {each.window_id}
        first = found[0][1]
        assert [index for _, index in found] == list(range(first, first + len(found)))
