"""What the command line costs before it does anything: CPU time against a bare Typer program that prints a table.

    python -m benchmarks.start [--rounds 15]

Each command runs by turns, many times, as a process of its own, on a profile with four identities. Compiled modules are
cached, as they are after an installation. Times are medians; only their ratios mean something on another machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.bars import bars_table
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


def main() -> None:
    """Print a table of all commands, and exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        medians = measure(Path(name), rounds)
    bare = medians["a bare Typer program"]
    for what, seconds in medians.items():
        print(f"{what:34} {seconds * 1000:6.0f} ms {seconds / bare:6.2f}")
    bars = [
        ("hatbox list", medians["hatbox list"] / bare, "<=", 1.2),
        ("hatbox list in a terminal", medians["hatbox list, table for a terminal"] / bare, "<=", 1.2),
        ("a completion of names", medians["completion of names"] / bare, "<=", 0.5),
    ]
    Console().print(bars_table(bars))
    sys.exit(any(ratio > bar for _, ratio, _, bar in bars))


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """The median CPU time of each command, in seconds."""
    program, profile = folder / "bare.py", folder / "profile.db"
    program.write_text(BARE, "utf-8")
    create_profile(profile)
    base = {**os.environ, "HATBOX_PROFILE": str(profile), "PYTHONPYCACHEPREFIX": str(folder / "cache")}
    for each in ("PYTHONDONTWRITEBYTECODE", "FORCE_COLOR", "NO_COLOR"):
        base.pop(each, None)
    cases: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {
        "a bare Typer program": ([sys.executable, str(program), "list"], {}),
        "hatbox list": ([*HATBOX, "list"], {}),
        "hatbox list, table for a terminal": ([*HATBOX, "list"], TERMINAL),
        "hatbox --help": ([*HATBOX, "--help"], {}),
        "completion of names": (HATBOX, COMPLETION),
        "Python itself": ([sys.executable, "-c", ""], {}),
    }
    times: dict[str, list[float]] = {what: [] for what in cases}
    for number in range(rounds + 1):
        for what, (command, environment) in cases.items():
            seconds = cpu_seconds(command, {**base, **environment})
            if number:  # the first round compiles
                times[what].append(seconds)
    return {what: statistics.median(measured) for what, measured in times.items()}


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """The CPU time of a process that has to succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
