"""Places in the virtual grid: what is visible is in the DOM, and a card lands where it is dropped."""

from __future__ import annotations

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

CARDS = "const grid = new GridGeometry({width: 1176, minWidth: 264, height: 102, gap: 12});"


def test_cards_fill_the_width_in_columns() -> None:
    body = "return [grid.columns, grid.width, grid.place(5), grid.total(9), grid.total(0)];"
    assert value_of("grid_geometry.js", "GridGeometry", CARDS + body) == [4, 285, [297, 114], 330, 0]


def test_a_narrow_window_has_one_column() -> None:
    body = "const g = new GridGeometry({width: 200, minWidth: 264, height: 10, gap: 12}); return [g.columns, g.width];"
    assert value_of("grid_geometry.js", "GridGeometry", body) == [1, 200]


def test_only_visible_cells_and_three_rows_more_are_in_the_range() -> None:
    body = """return [grid.range(0, 800, 10000), grid.range(114 * 100, 800, 10000), grid.range(1e9, 800, 10000),
        grid.range(-50, 800, 5), grid.range(0, 0, 0)];"""
    ranges = value_of("grid_geometry.js", "GridGeometry", CARDS + body)
    assert ranges == [[0, 44], [388, 444], [10000, 10000], [0, 5], [0, 0]]


def test_every_cell_is_dropped_where_it_is_drawn() -> None:
    body = """for (let i = 0; i < 1000; i++) if (grid.indexAt(...grid.place(i), 1000) !== i) return i;
        return [grid.indexAt(-500, -500, 9), grid.indexAt(1e6, 1e6, 9), grid.indexAt(300, 120, 1)];"""
    assert value_of("grid_geometry.js", "GridGeometry", CARDS + body) == [0, 8, 0]


def test_arrow_keys_stay_in_the_grid() -> None:
    body = """const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "x"];
        return [0, 5, 8].map((i) => keys.map((key) => grid.neighbour(i, key, 9) ?? null));"""
    assert value_of("grid_geometry.js", "GridGeometry", CARDS + body) == [
        [0, 1, 0, 4, 0, 8, None],
        [4, 6, 1, 8, 0, 8, None],
        [7, 8, 4, 8, 0, 8, None],
    ]


def test_moving_an_item_shifts_the_others() -> None:
    body = 'return [moved(["a", "b", "c"], 0, 2), moved(["a", "b", "c"], 2, 0), moved(["a", "b"], 1, 1)].map(String);'
    assert value_of("grid_geometry.js", "moved", body) == ["b,c,a", "c,a,b", "a,b"]
