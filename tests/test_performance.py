"""docs/performance.md has each figure that the benchmarks declare. Their programs do not run here, but in `.ci/run`."""

from __future__ import annotations

import pytest

from benchmarks.all import figures, programs
from benchmarks.benchmark import Figure, Result
from benchmarks.performance_page import MACHINE, PAGE, part


def test_the_page_has_the_row_of_each_figure_with_its_limit() -> None:
    text = PAGE.read_text("utf-8")
    assert part(text, MACHINE)
    for name in programs():
        shown = [[cell.strip() for cell in line.split("|")] for line in part(text, name).splitlines()[2:]]
        declared = [(figure.what, figure.limit) for figure in figures(name)]
        assert [(cells[1], cells[5]) for cells in shown] == declared, name


@pytest.mark.parametrize(
    ("figure", "measured", "peer", "verdict"),
    [
        (Figure("a", "µs", "peer", at_most=2), 4, 2, "met"),
        (Figure("a", "µs", "peer", at_most=2), 5, 2, "MISSED"),
        (Figure("a", "µs", "peer", at_least=2), 2, 4, "met"),
        (Figure("a", "µs", "peer", at_least=2), 3, 4, "MISSED"),
        (Figure("a", "ms", at_most=100), 101, None, "MISSED"),
        (Figure("a", at_most=0), 0, None, "met"),
        (Figure("a", "ms"), 1, None, ""),
        (Figure("a", "ms", "peer", at_most=2), None, None, "not measured"),
    ],
)
def test_a_missed_bar_is_seen(figure: Figure, measured: float | None, peer: float | None, verdict: str) -> None:
    assert Result(figure, measured, peer).verdict == verdict
