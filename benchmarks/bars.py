"""What was measured, beside the bar that it is held to."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

__all__ = ["Bar", "bars_table"]

Bar = tuple[str, float, str, float]
"""What it is, the ratio that was measured, `<=` or `>=`, and the bar."""


def bars_table(bars: Iterable[Bar]) -> Table:
    """A row for each bar, and whether it is met."""
    table = Table(title="Bars, as ratios", title_justify="left")
    for heading in ("", "measured", "bar", ""):
        table.add_column(heading, justify="right" if heading in ("measured", "bar") else "left")
    for what, ratio, direction, bar in bars:
        met = ratio <= bar if direction == "<=" else ratio >= bar
        table.add_row(what, f"{ratio:,.2f}", f"{direction} {bar:g}", "met" if met else "MISSED")
    return table
