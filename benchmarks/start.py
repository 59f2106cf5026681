"""What the command line costs before it does anything: CPU time against a bare Typer program that prints a table.

    python -m benchmarks.start

Each command runs by turns, many times, as a process of its own, on a profile with four identities. Compiled modules are
cached, as they are after an installation. Times are medians.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.maintenance import create_profile

BARE = '''
import typer

app = typer.Typer()


@app.callback()
def root() -> None:
    """Several commands."""


@app.command("list")
def list_(name: str | None = None, profile: str | None = None, as_json: bool = False) -> None:
    """Print a table of four rows."""
    from rich.console import Console
    from rich.table import Table

    table = Table("Color", "Icon", "Name", "Id")
    for number, name in enumerate(("Personal", "Work", "Banking", "Shopping"), 1):
        table.add_row("blue", "circle", name, f"firefox-container-{number}")
    Console().print(table)


app()
'''
HATBOX = [sys.executable, "-m", "hatbox"]
COMPLETION = {"_HATBOX_COMPLETE": "complete_bash", "COMP_WORDS": "hatbox\nget\n", "COMP_CWORD": "2"}
TERMINAL = {"FORCE_COLOR": "1"}
PEER = "bare Typer program"
CASES: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "hatbox list": ([*HATBOX, "list"], {}),
    "hatbox list, table for a terminal": ([*HATBOX, "list"], TERMINAL),
    "hatbox --help": ([*HATBOX, "--help"], {}),
    "completion of names": (HATBOX, COMPLETION),
    "Python itself": ([sys.executable, "-c", ""], {}),
}


def measure(folder: Path, rounds: int, warm_up: int) -> Measured:
    """The median CPU time of each command, in milliseconds."""
    program, profile = folder / "bare.py", folder / "profile.db"
    program.write_text(BARE, "utf-8")
    create_profile(profile)
    base = {**os.environ, "HATBOX_PROFILE": str(profile)}
    base.setdefault("PYTHONPYCACHEPREFIX", str(folder / "cache"))
    for each in ("PYTHONDONTWRITEBYTECODE", "FORCE_COLOR", "NO_COLOR"):
        base.pop(each, None)
    cases = {PEER: ([sys.executable, str(program), "list"], {}), **CASES}
    times: dict[str, list[float]] = {what: [] for what in cases}
    for _ in range(warm_up + rounds):
        for what, (command, environment) in cases.items():
            times[what].append(cpu_seconds(command, {**base, **environment}) * 1e3)
    medians = {what: statistics.median(each[warm_up:]) for what, each in times.items()}  # the first round compiles
    return {what: (medians[what], medians[PEER]) for what in CASES}


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """The CPU time of a process that has to succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


BENCHMARK = Benchmark(
    measure,
    [
        Figure("hatbox list", "ms", PEER, at_most=1.2),
        Figure("hatbox list, table for a terminal", "ms", PEER, at_most=1.2),
        Figure("hatbox --help", "ms", PEER),
        Figure("completion of names", "ms", PEER, at_most=0.5),
        Figure("Python itself", "ms", PEER),
    ],
    rounds=(15, 1),
    warm_up=(1, 0),
)

if __name__ == "__main__":
    BENCHMARK.main()
