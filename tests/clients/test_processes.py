"""Several real processes with one profile: nothing is mixed, nothing is lost. The site is the judge."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hatbox
from tests.clients.server import Site
from tests.clients.worker import IDENTITIES
from tests.marks import starts

ROOT = Path(__file__).parents[2]
REQUESTS = 1000

Worker = subprocess.Popen[str]
Start = Callable[[int], Worker]


@pytest.fixture
@starts("process")
def start(kind: str, path: Path, site: Site) -> Iterator[Start]:
    """Starts a process with one of the clients, in turn, and waits until it is ready to make so many requests."""
    started: list[Worker] = []

    def start(count: int) -> Worker:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.clients.worker", kind, str(path), site.url("").rstrip("/"), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.kill()
        worker.communicate()


def expect(worker: Worker, word: str) -> None:
    assert worker.stdout is not None
    assert worker.stdout.readline() == f"{word}\n"


def go(worker: Worker) -> None:
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()


def test_two_logins_on_one_site_from_two_processes_are_never_mixed(start: Start, site: Site, path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        for name in IDENTITIES:
            profile.urllib(name).open(site.url("/login", set=f"sid={name}-login; Path=/")).close()
    workers = [start(REQUESTS // 2), start(REQUESTS // 2)]
    for worker in workers:
        expect(worker, "ready")
    for worker in workers:
        go(worker)
    for worker in workers:
        expect(worker, "done")
    assert not site.mixed
    assert len(site.seen) >= REQUESTS + REQUESTS // 4  # the redirects come on top


def test_a_cookie_is_there_after_the_process_was_killed(start: Start, site: Site, path: Path) -> None:
    worker = start(2)
    expect(worker, "ready")
    go(worker)
    expect(worker, "done")
    worker.kill()
    worker.wait()
    with hatbox.open_sync(path) as profile:
        for number, name in enumerate(IDENTITIES):
            with profile.urllib(name).open(site.url("/me")) as response:
                assert response.read().decode() == f"sid={name}-{number}; hop={name}-{number}"
