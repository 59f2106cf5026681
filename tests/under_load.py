"""Runs a command several times beside busy processes, to find tests that depend on the speed of the machine.

python -m tests.under_load --busy 4 --times 10 python -m pytest
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Processes that each use a whole core, as far as there is one."""
    # They end with this process, even if it is killed: then their standard input ends.
    source = "import sys, threading as t; t.Thread(target=sys.stdin.read).start()\nwhile t.active_count() > 1: pass"
    started = [subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.communicate()


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return how many of its runs have failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.under_load", description=__doc__.partition("\n")[0])
    parser.add_argument("--busy", type=int, default=2, help="busy processes beside the command")
    parser.add_argument("--times", type=int, default=3, help="runs of the command, one after the other")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    failed = 0
    for run in range(1, options.times + 1):
        start = time.monotonic()
        with busy(options.busy):
            status = subprocess.run(options.command, stdin=subprocess.DEVNULL, check=False).returncode
        failed += status != 0
        sys.stdout.write(f"run {run} of {options.times}: status {status}, {time.monotonic() - start:.0f} s\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
