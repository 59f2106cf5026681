"""Several processes with one profile, and a site that gives a new session with each response."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fleet_soak import soak
from benchmarks.session_history import Request, stale_requests
from tests.clients.faces import FACES
from tests.marks import starts
from tests.postgres import address_of

ROOT = Path(__file__).parents[2]
IDENTITIES = ("Work", "Personal", "Banking")
TURNS = 60

Process = subprocess.Popen[str]


def started(*command: str) -> Process:
    return subprocess.Popen(
        [sys.executable, "-m", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def line_from(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
@starts("process")
def strict_site() -> Iterator[str]:
    """The URL of a site that rejects every session but the newest of an identity."""
    with started("benchmarks.rotating_site", "--strict") as process:
        yield f"http://127.0.0.1:{line_from(process)}/"
        process.communicate("")


@pytest.fixture
@starts("process")
def workers(path: Path, strict_site: str) -> Iterator[list[Process]]:
    """A process with each client."""
    processes = [started("tests.clients.turn_worker", kind, address_of(path), strict_site) for kind in FACES]
    yield processes
    for process in processes:
        process.communicate("")


def test_each_request_has_the_session_that_another_process_has_just_received(workers: list[Process]) -> None:
    turns = random.Random(7)
    answers: list[str] = []
    for _ in range(TURNS):
        worker = turns.choice(workers)
        assert worker.stdin is not None
        worker.stdin.write(f"{turns.choice(IDENTITIES)}\n")
        worker.stdin.flush()
        answers.append(line_from(worker))
    assert [answer for answer in answers if not answer.startswith("200 ")] == []


@pytest.mark.process
def test_processes_that_refresh_sessions_at_once_converge_on_the_last_commit(path: Path) -> None:
    result = asyncio.run(soak(address_of(path), processes=4, identities=2, requests=200))
    assert result.requests == 200
    assert not result.failed, result.summary


def request(sent: str, issued: str, started: float, issued_at: float, finished: float) -> Request:
    return Request("Work", sent, issued, started, issued_at, finished)


def test_a_session_is_old_if_a_newer_one_was_durable_when_the_request_started() -> None:
    history = [
        request("", "1", 0, 1, 2),
        request("1", "2", 3, 4, 5),
        request("1", "3", 6, 7, 8),  # stale: 2 was issued after 1 was finished, and durable at 5
    ]
    assert stale_requests(history) == [history[2]]
    assert stale_requests([history[0], request("", "2", 3, 4, 5)]) != []


def test_a_session_is_not_old_while_another_is_on_its_way() -> None:
    history = [
        request("", "1", 0, 1, 2),
        request("1", "2", 3, 4, 8),
        request("1", "3", 6, 7, 9),  # 2 was not durable before 8
        request("2", "4", 10, 11, 12),  # 2 and 3 were on their way at once: 2 may be committed last
    ]
    assert stale_requests(history) == []
