"""Breaks Hatbox in many places, one at a time, and counts how often a test notices.

python -m tests.mutants FOLDER                # 200 mutants: some hours on two cores
python -m tests.mutants FOLDER tests/cookies tests/identities --count 20 --seed 5

FOLDER keeps the mutants and the result of each commit: on another commit, the same mutants are judged again. Each is
judged by the tests that reach the changed line, the fastest first, until one fails. Which reach it is noted once for
each commit, in a run of all tests. The committed files are tested, not those of the working tree.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from tests.mutants.mutations import Mutant, choose, find
from tests.mutants.reach import Reach, environment

_SECONDS: Final = 60.0  # of tests for one mutant, as long as they took without it
_SLOWER: Final = 4  # a run that takes so many times as long is stuck
_START_SECONDS: Final = 60


def main(arguments: list[str] | None = None) -> None:
    """Judge the mutants of a folder, and print what was and was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tests", nargs="*", help="those that judge; by default all")
    parser.add_argument("--count", type=int, default=200, help="of mutants, if the folder has none yet")
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="of tests for one mutant")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    commit = _git("rev-parse", "--short=8", "HEAD")
    copies = [_copy(folder / f"copy{number}", commit) for number in range(options.processes)]
    chosen = folder / "mutants.json"
    if not chosen.exists():
        made = [asdict(mutant) for mutant in choose(copies[0], options.count, options.seed)]
        chosen.write_text(json.dumps(made, indent=1) + "\n")
    mutants = [Mutant(**each) for each in json.loads(chosen.read_text())]
    reach = _reach(folder / f"reach.{commit}", copies[0], mutants, options.tests)
    results = folder / f"results.{commit}.json"
    judged: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def judge(number: int) -> None:
        copy = free.get()
        try:
            judged[str(number)] = _judge(copy, copies[0], mutants[number], reach, options.seconds)
        finally:
            free.put(copy)
        results.write_text(json.dumps(judged, indent=1) + "\n")
        sys.stdout.write(f"{number}: {judged[str(number)]}\n")
        sys.stdout.flush()

    with ThreadPoolExecutor(options.processes) as threads:
        list(threads.map(judge, (number for number in range(len(mutants)) if str(number) not in judged)))
    _report(folder, mutants)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def _copy(copy: Path, commit: str) -> Path:
    if not copy.exists():
        _git("clone", "--quiet", "--shared", "--no-checkout", ".", str(copy))
    _git("-C", str(copy), "fetch", "--quiet")
    _git("-C", str(copy), "checkout", "--quiet", "--force", "--detach", commit)
    return copy


def _variables(copy: Path) -> dict[str, str]:
    """The environment of tests of a copy: an installed Hatbox would be another one."""
    return os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONPYCACHEPREFIX": f"{copy}.bytecode"}


def _reach(folder: Path, copy: Path, mutants: list[Mutant], tests: list[str]) -> Reach:
    if not (folder / "data").exists():
        files = {place.mutant.path for mutant in mutants if (place := find(copy, mutant))}
        noted = environment(folder, [str(copy / file) for file in files], copy / "src")
        variables = _variables(copy) | noted | {"HATBOX_TESTS": "all"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.reach", *tests]
        subprocess.run(command, cwd=copy, env=variables, check=False)  # a test that fails is one that reaches its lines
        Reach.combine(folder)
    return Reach(folder)


def _judge(copy: Path, measured: Path, mutant: Mutant, reach: Reach, seconds: float) -> str:
    place = find(copy, mutant)
    if place is None:
        return "gone: its code is not there"
    path = place.mutant.path
    tests = reach.tests(measured / path, range(place.first_line, place.last_line + 1))
    chosen: list[str] = []
    total = 0.0
    for test in sorted(tests, key=lambda test: (not _mirrors(test, path), reach.seconds[test])):
        if total + reach.seconds[test] <= seconds or not chosen:
            chosen.append(test)
            total += reach.seconds[test]
    if not chosen:
        return "survived: no test reaches it"
    with _mutated(copy / path, place.applied):
        noticed = _noticed(copy, chosen, total * _SLOWER + _START_SECONDS)
    return f"killed by {noticed}" if noticed else f"survived {len(chosen)} of {len(tests)} tests"


def _mirrors(test: str, path: str) -> bool:
    """Whether a test is in the folder that has the tests of the module's package."""
    return test.startswith(str(Path("tests", *Path(path).parts[2:-1])))


@contextlib.contextmanager
def _mutated(file: Path, mutate: Any) -> Iterator[None]:
    source, status = file.read_bytes(), file.stat()
    file.write_bytes(mutate(source))
    # Python compares the time, in seconds, and the size with those of the compiled file.
    os.utime(file, (status.st_mtime + 10, status.st_mtime + 10))
    try:
        yield
    finally:
        file.write_bytes(source)
        os.utime(file, (status.st_mtime + 20, status.st_mtime + 20))


def _noticed(copy: Path, tests: list[str], seconds: float) -> str | None:
    """What showed that the copy is broken."""
    arguments, failed = copy.with_suffix(".tests"), copy.with_suffix(".failed")
    arguments.write_text("".join(f"{test}\n" for test in tests))
    failed.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [f"--write-failed={failed}", f"@{arguments}"]
    with copy.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=copy, env=_variables(copy), stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"the limit of {seconds:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if status == 0:
        return None
    return (failed.read_text().strip() if failed.exists() else "") or f"pytest, which ended with status {status}"


def _report(folder: Path, mutants: list[Mutant]) -> None:
    commits = {
        file.name.split(".")[1]: json.loads(file.read_text())
        for file in sorted(folder.glob("results.*.json"), key=lambda file: file.stat().st_mtime)
    }
    for number, mutant in enumerate(mutants):
        found = {commit: results.get(str(number), "not judged") for commit, results in commits.items()}
        if not all(each.startswith("killed") for each in found.values()):
            change = " ".join(f"{mutant.original} -> {mutant.mutated}".split())
            sys.stdout.write(f"{number} {mutant.path} {mutant.function}: {change}\n")
            sys.stdout.writelines(f"    {commit} {each}\n" for commit, each in found.items())
    for commit, results in commits.items():
        counts = [sum(each.startswith(word) for each in results.values()) for word in ("killed", "survived", "gone")]
        sys.stdout.write(f"{commit}: {counts[0]} killed, {counts[1]} survived, {counts[2]} gone, of {len(mutants)}\n")


if __name__ == "__main__":
    main()
