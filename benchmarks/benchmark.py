"""What all programs of this folder share: figures with bars, sizes, and a command line. Knows no program.

    BENCHMARK = Benchmark(measure, [Figure("get", "µs", peer="sqlite3", at_most=6)], rounds=(7, 1))

`measure(folder, rounds=7)` gets an empty folder and the sizes: the first of each pair, with `--smoke` the second. It
returns a value for each figure, or a pair: that of Hatbox and that of its peer, taken by turns in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from rich.console import Console
from rich.table import Table

__all__ = ["HEADINGS", "Benchmark", "Figure", "Measured", "Result", "results_table"]

Measured: TypeAlias = Mapping[str, "float | tuple[float, float]"]
Size: TypeAlias = int | float | str

HEADINGS: Final = ("", "measured", "peer", "ratio", "limit", "")


class Figure(msgspec.Struct, frozen=True):
    """One thing that a program measures. Its bar is for the ratio to the peer; without a peer, for the value."""

    what: str
    unit: str = ""
    peer: str = ""
    at_most: float | None = None
    """Of the value, divided by that of the peer."""
    at_least: float | None = None
    """Of the value of the peer, divided by that of Hatbox."""

    @property
    def limit(self) -> str:
        """The bar in words; empty without one."""
        if self.at_least is not None:
            return f"≥ {self.at_least:,g}"
        if self.at_most is None:
            return ""
        return f"≤ {_with_unit(self.at_most, '' if self.peer else self.unit)}"


class Result(msgspec.Struct, frozen=True):
    """A figure as it was measured, or not, where a peer is not installed."""

    figure: Figure
    measured: float | None = None
    peer: float | None = None

    @property
    def ratio(self) -> float | None:
        """Hatbox to its peer, or the peer to Hatbox if the bar is a minimum."""
        if self.measured is None or self.peer is None:
            return None
        return self.measured / self.peer if self.figure.at_least is None else self.peer / self.measured

    @property
    def verdict(self) -> str:
        """Whether the bar is met; empty without one."""
        value = self.ratio if self.figure.peer else self.measured
        if value is None:
            return "not measured"
        if self.figure.at_least is not None:
            return "met" if value >= self.figure.at_least else "MISSED"
        return "" if self.figure.at_most is None else "met" if value <= self.figure.at_most else "MISSED"

    @property
    def row(self) -> tuple[str, ...]:
        """The cells below HEADINGS."""
        figure = self.figure
        peer = f"{figure.peer}: {_with_unit(self.peer, figure.unit)}" if self.peer is not None else figure.peer
        ratio = "" if self.ratio is None else _digits(self.ratio)
        return figure.what, _with_unit(self.measured, figure.unit), peer, ratio, figure.limit, self.verdict


class Benchmark:
    """A program: what it measures, and its sizes, each for a whole run and for a smoke run."""

    def __init__(
        self,
        measure: Callable[..., Measured | Coroutine[Any, Any, Measured]],
        figures: Sequence[Figure],
        **sizes: tuple[Size, Size],
    ) -> None:
        self.figures = figures
        self._measure = measure
        self._sizes = sizes

    def main(self) -> None:
        """Measure, print each figure beside its bar, and exit with 1 if a bar is missed."""
        main = sys.modules["__main__"]
        name, description = getattr(main.__spec__, "name", ""), (main.__doc__ or "").partition("\n")[0]
        parser = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
        parser.add_argument("--smoke", action="store_true", help="only show that it runs: smallest sizes, no bars")
        parser.add_argument(
            "--results", type=Path, metavar="FILE", help="write the results to this file, as JSON lines"
        )
        for option, (whole, smallest) in self._sizes.items():
            help_text = f"default: {whole}; {smallest} in a smoke run" if whole else "default: none"
            parser.add_argument(f"--{option.replace('_', '-')}", type=type(whole), help=help_text)
        given = vars(parser.parse_args())
        smoke, path = given.pop("smoke"), given.pop("results")
        sizes = {
            option: pair[smoke] if given[option] is None else given[option] for option, pair in self._sizes.items()
        }
        results = self.results(**sizes)
        if smoke and (missing := [each.figure.what for each in results if each.measured is None]):
            sys.exit(f"{name} has not measured: {', '.join(missing)}")
        if path is not None:
            path.write_bytes(b"\n".join(map(msgspec.json.encode, results)))
        if not smoke:
            Console(width=150).print(results_table({name: results}))
            sys.exit(any(each.verdict == "MISSED" for each in results))

    def results(self, **sizes: Size) -> list[Result]:
        """Measure all figures."""
        with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-", ignore_cleanup_errors=True) as folder:
            found = self._measure(Path(folder), **sizes)
            measured = found if isinstance(found, Mapping) else asyncio.run(found)
        unknown = measured.keys() - {figure.what for figure in self.figures}
        assert not unknown, f"not declared: {unknown}"
        values = [(figure, measured.get(figure.what, (None,))) for figure in self.figures]
        return [Result(figure, *(value if isinstance(value, tuple) else (value,))) for figure, value in values]


def results_table(programs: Mapping[str, Sequence[Result]]) -> Table:
    """A row for each result, by program."""
    table = Table()
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in ("measured", "ratio", "limit") else "left")
    for name, results in programs.items():
        table.add_row(name, style="bold")
        for each in results:
            table.add_row(*each.row)
        table.add_section()
    return table


def _with_unit(value: float | None, unit: str) -> str:
    return "" if value is None else f"{_digits(value)} {unit}".rstrip()


def _digits(value: float) -> str:
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
