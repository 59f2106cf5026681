"""Which cells stay in the DOM where they are: few move, and never the one with the focus."""

from __future__ import annotations

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno


def test_only_cells_that_are_out_of_order_move() -> None:
    body = "return [[0, 1, 2], [1, 2, 3, 0], [3, 0, 1, 2], [2, 1, 0], []].map((each) => [...stationary(each)].sort());"
    assert value_of("stationary.js", "stationary", body) == [[0, 1, 2], [0, 1, 2], [1, 2, 3], [0], []]


def test_the_cell_with_the_focus_stays() -> None:
    cases = "[[[1, 2, 3, 0], 3], [[3, 0, 1, 2], 0], [[0, 1, 2], 1]]"
    body = f"return {cases}.map((each) => [...stationary(...each)].sort());"
    assert value_of("stationary.js", "stationary", body) == [[3], [0], [0, 1, 2]]
