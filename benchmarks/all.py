"""Runs all benchmarks one after the other, prints one table, and writes the figures of docs/performance.md.

    python -m benchmarks.all            # on a quiet machine
    python -m benchmarks.all --smoke    # only shows that each program runs: smallest sizes, several at once, no bars

Each program is a process of its own, which is ended if it takes too long. The exit status is 1 if one has failed or if
a bar is missed. With names of programs only these run, and the page stays as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from benchmarks.benchmark import Benchmark, Figure, Result, results_table
from benchmarks.performance_page import PAGE, write_page

__all__ = ["figures", "programs"]

_FOLDER: Final = Path(__file__).parent
_LIMITS: Final = {False: 900, True: 600}
"""Seconds for one program, in a whole run and in a smoke run."""
_groups: Final[set[int]] = set()
"""The process groups of the programs that run."""


def programs() -> list[str]:
    """The names of all programs."""
    return sorted(path.stem for path in _FOLDER.glob("*.py") if "\nBENCHMARK = " in path.read_text("utf-8"))


def main() -> None:
    """Run the programs, and print and write their results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.all", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="only show that each program runs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; default: all")
    options = parser.parse_args()
    names, load = options.names or programs(), os.getloadavg()[0]
    at_once = (os.cpu_count() or 1) + 1 if options.smoke else 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    with ThreadPoolExecutor(at_once) as pool:
        try:
            runs = dict(zip(names, pool.map(lambda name: run(name, smoke=options.smoke), names), strict=True))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for group in list(_groups):
                _kill(group)
            raise
    failed = [name for name, results in runs.items() if results is None]
    missed = 0
    if not options.smoke:
        found = {name: results or not_measured(name) for name, results in runs.items()}
        missed = sum(result.verdict == "MISSED" for results in found.values() for result in results)
        Console(width=150).print(results_table(found))
        print(f"{missed} bars missed")
        if not options.names:
            write_page(found, load)
            print(f"{PAGE} has the figures of this run.")
    if failed:
        print(f"failed: {', '.join(failed)}")
    sys.exit(bool(failed or missed))


def figures(name: str) -> Sequence[Figure]:
    """The declared figures of a program."""
    benchmark: Benchmark = importlib.import_module(f"benchmarks.{name}").BENCHMARK
    return benchmark.figures


def not_measured(name: str) -> list[Result]:
    """What stands in the table for a program that has failed."""
    return [Result(figure) for figure in figures(name)]


def run(name: str, *, smoke: bool) -> list[Result] | None:
    """The results of a program; None if it has failed, with its output printed."""
    start, limit = time.monotonic(), _LIMITS[smoke]
    # Files in memory make a smoke run quick; the figures of a whole run are those of a disk.
    memory = "/dev/shm" if smoke and Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # a PostgreSQL server of root runs as another user
        path = Path(folder) / "results"
        command = [sys.executable, "-m", f"benchmarks.{name}", "--results", str(path), *(["--smoke"] if smoke else [])]
        process = subprocess.Popen(
            command,
            cwd=_FOLDER.parent,
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _groups.add(process.pid)
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _kill(process.pid)
            output = f"It has not ended after {limit} s.\n".encode() + process.communicate()[0]
        _groups.remove(process.pid)
        _kill(process.pid)  # what it has left running
        written = path.read_bytes().splitlines() if path.exists() else None
    print(f"{time.monotonic() - start:6.1f} s  benchmarks.{name}", flush=True)
    if written is None:
        print(f"benchmarks.{name} has failed:\n{output.decode('utf-8', 'replace')}", flush=True)
        return None
    return [msgspec.json.decode(line, type=Result) for line in written]


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
