"""Processes that work on one profile in PostgreSQL while a test breaks things, and the check of their reports."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.postgres import Cluster
from tests.waiting import block_until

WORKER = Path(__file__).with_name("fault_worker.py")


class Figures(NamedTuple):
    """What a workload has done."""

    acknowledged: int
    failed: list[str]
    """The errors of calls that reported that the server could not be reached."""
    missing: list[str]
    """Acknowledged calls whose effect is not in the profile."""
    twice: list[str]
    """What happened more than once."""
    unexplained: list[str]
    """What is in the profile, although no call has made it."""
    wrong_followers: list[str]
    """Subscribers that did not receive each change once, in the order of the log."""


class Process:
    """One process of the workload."""

    def __init__(self, address: str, name: str, seed: int) -> None:
        self.name = name
        self.reports: list[list[Any]] = []
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), address, name, str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self.reports.append(json.loads(line))

    def tell(self) -> None:
        """Let it go on to its next part: work, stop, report."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def count(self, what: str) -> int:
        return sum(report[0] == what for report in self.reports)

    def is_idle(self) -> bool:
        """Whether every call has ended."""
        return self.count("call") == self.count("done") + self.count("failed")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()


class Workload:
    """Processes that work on one profile."""

    def __init__(self, address: str, count: int, seed: int) -> None:
        self.processes = [Process(address, f"w{number}", seed + number) for number in range(count)]

    @property
    def acknowledged(self) -> int:
        """How many calls have succeeded so far."""
        return sum(process.count("done") for process in self.processes)

    def start(self) -> None:
        """Start to work, when all processes have subscribed."""
        for process in self.processes:
            self._wait(lambda each=process: each.count("ready"), process)
        for process in self.processes:
            process.tell()

    def wait_for(self, acknowledged: int) -> None:
        """Wait until that many calls have succeeded."""
        block_until(lambda: self.acknowledged >= acknowledged or not self._are_running(), "calls that succeed")
        assert self._are_running(), "a process has ended"

    def stop(self) -> None:
        """Stop, and receive what is left of the change log."""
        for process in self.processes:
            process.tell()
        for process in self.processes:
            self._wait(process.is_idle, process)
        for process in self.processes:
            process.tell()
        for process in self.processes:
            self._wait(lambda each=process: each.count("received"), process)

    def _are_running(self) -> bool:
        return all(process.is_running() for process in self.processes)

    def _wait(self, condition: Any, process: Process) -> None:
        block_until(lambda: condition() or not process.is_running(), f"process {process.name}")
        assert condition(), f"process {process.name} has ended"


@contextmanager
def running_workload(address: str, count: int = 4, seed: int = 0) -> Iterator[Workload]:
    """A workload; its processes are ended in any case."""
    workload = Workload(address, count, seed)
    try:
        yield workload
    finally:
        for process in workload.processes:
            process.end()


def check(cluster: Cluster, schema: str, workload: Workload) -> Figures:
    """Compare what the processes have reported with the profile, and with its change log."""
    rows: Any = cluster.sql(f"SELECT id, convert_from(name, 'UTF8') FROM {schema}.identities WHERE id > 4")
    cookies: Counter[Any] = Counter(cluster.sql(f"SELECT store, convert_from(name, 'UTF8') FROM {schema}.cookies"))
    log: Any = cluster.sql(f"SELECT sequence, changes FROM {schema}.changes ORDER BY sequence")
    found = {f"firefox-container-{number}": name for number, name in rows}
    expected: dict[str, set[str]] = {}
    expected_cookies: set[tuple[int, str]] = set()
    uncertain = set()
    missing, unexplained = [], []
    acknowledged = 0
    failed = []
    ids: Counter[str] = Counter()
    for process in workload.processes:
        for report in process.reports:
            if report[0] == "failed":
                failed.append(report[4])
                uncertain |= {report[2], report[3]}
            elif report[0] == "done":
                _, kind, name, id_ = report
                acknowledged += 1
                if kind == "create":
                    ids[id_] += 1
                    expected[id_] = {name}
                elif kind == "update":
                    expected[id_] = {name}
                elif kind == "remove":
                    expected.pop(id_, None)
                    expected_cookies = {each for each in expected_cookies if f"firefox-container-{each[0]}" != id_}
                    if id_ in found:
                        missing.append(f"{id_} was removed")
                else:
                    expected_cookies.add((int(id_.rpartition("-")[2]), name))
    missing += [f"{id_} {names}" for id_, names in expected.items() if found.get(id_) not in names | uncertain]
    missing += [f"cookie {each}" for each in expected_cookies if each not in cookies]
    known = set().union(*expected.values()) | uncertain
    unexplained += [f"{id_} {name}" for id_, name in found.items() if name not in known]
    names: Counter[str] = Counter(found.values())
    twice = [name for counted in (names, ids) for name, times in counted.items() if times > 1]
    changes = [
        (topic, bytes(raw).decode())
        for _, row in log
        for topic, raw in msgspec.json.decode(row, type=list[tuple[str, msgspec.Raw]])
    ]
    created = Counter(payload for topic, payload in changes if topic.endswith("created"))
    twice += [payload for payload, times in created.items() if times > 1]
    wrong = []
    for process in workload.processes:
        received = [tuple(change) for report in process.reports if report[0] == "received" for change in report[1]]
        if received != changes:
            wrong.append(f"{process.name}: {_difference(received, changes)}")
    return Figures(acknowledged, failed, missing, twice, unexplained, wrong)


def _difference(received: list[Any], changes: list[Any]) -> str:
    if any(topic == "resync" for topic, _ in received):
        return "received a resync"
    for number, (one, other) in enumerate(zip(received, changes, strict=False)):
        if one != other:
            return f"change {number}: {one} and not {other}"
    return f"{len(received)} changes of {len(changes)}"
