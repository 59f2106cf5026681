"""Processes that are killed in the middle of their work: what had resolved is there, what was removed is not back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import hatbox
from tests.marks import starts
from tests.postgres import address_of, is_on_server, schema_for, shared_cluster
from tests.store.model import Identity, Model, Refusal
from tests.waiting import block_until

# A session of a server takes longer to open. With HATBOX_TEST_KILLS the run is a short one.
IS_SHORT = "HATBOX_TEST_KILLS" in os.environ
ROUNDS = 30 if IS_SHORT else 60 if is_on_server() else 200
ROUNDS_ON_NEW_PROFILES = 20 if IS_SHORT or is_on_server() else 50


class Killer:
    """Starts children of crash_worker.py, kills them, and knows what they had done."""

    def __init__(self, orders: IO[str], reports: IO[str]) -> None:
        self._orders = orders
        self._reports = reports

    def round(self, path: Path, seed: int, *, delay: float, after: str) -> list[tuple[str, Any]]:
        """Let one work until it has reported `after`, and `delay` seconds more; returns all of its reports."""
        sessions = open_sessions()
        self._orders.write(json.dumps([address_of(path), seed]) + "\n")
        self._orders.flush()
        reports = [self._report()]
        child = reports[0][1]
        while reports[-1][0] not in (after, "ended"):
            reports.append(self._report())
        assert reports[-1][0] != "ended", f"the child has failed with seed {seed}"
        time.sleep(delay)  # the moment of death is what this test is about
        os.kill(child, signal.SIGKILL)
        while reports[-1][0] != "ended":
            reports.append(self._report())
        assert reports.pop() == ("ended", -signal.SIGKILL), f"the child has failed with seed {seed}"
        # A server may still be at what the child has sent.
        block_until(lambda: open_sessions() <= sessions, "the end of the child's session")
        return reports[1:]

    def _report(self) -> tuple[str, Any]:
        what, value = json.loads(self._reports.readline())
        return what, value


def open_sessions() -> set[object]:
    """The sessions of a server, if the profile is on one."""
    if not is_on_server():
        return set()
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hatbox'"
    return {pid for (pid,) in shared_cluster().sql(query)}


@pytest.fixture
@starts("process")
def killer() -> Iterator[Killer]:
    command = [sys.executable, str(Path(__file__).with_name("crash_worker.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin
        assert process.stdout
        yield Killer(process.stdin, process.stdout)


def possible(model: Model, reports: list[tuple[str, Any]]) -> list[Model]:
    """All that a profile may be after a child has reported this and was killed.

    Calls take effect in the order in which they were made. Those that were answered have taken effect; of those made
    together with the last answer, any number of the following ones may have.
    """
    unanswered: list[Any] = []
    for what, value in reports:
        if what == "open":
            assert value == model.order, "what the child found is not what was there"
        elif what == "calls":
            assert not unanswered
            unanswered = value
        else:
            name, arguments, named = unanswered.pop(0)
            assert (what, value) == outcome(model, name, arguments, named)
    models = [model]
    for name, arguments, named in unanswered:
        models.append(models[-1].copy())
        outcome(models[-1], name, arguments, named)
    return models


def outcome(model: Model, name: str, arguments: list[Any], named: dict[str, str]) -> tuple[str, Any]:
    try:
        answer = model(name, *arguments, **named)
    except Refusal as refusal:
        return "refused", refusal.kind
    return "resolved", answer and answer.id


async def listed(profile: hatbox.Profile) -> list[Identity]:
    return [
        Identity(identity.name, identity.icon, identity.color, identity.cookie_store_id, identity.hidden)
        for identity in await profile.identities.query()
    ]


def last_number(path: Path) -> int:
    """The number of the newest identity ever, and a look at the health of the file."""
    if is_on_server():
        [(number,)] = shared_cluster().sql(f"SELECT identities FROM {schema_for(path)}.head")
        assert isinstance(number, int)
        return number
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [(number,)] = connection.execute("SELECT identities FROM head")
        return int(number)


def exists(path: Path) -> bool:
    if not is_on_server():
        return path.exists()
    return bool(shared_cluster().sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema_for(path)}'"))


def matching(models: list[Model], found: list[Identity], last: int) -> Model:
    """The one among these models that the profile is."""
    for model in models:
        if model.listed() == found and model.next_number == last + 1:
            return model
    raise AssertionError(f"the profile is none of {len(models)} possible ones: {found} is not {models[0].listed()}")


def test_nothing_that_had_resolved_is_lost_when_a_process_is_killed(killer: Killer, tmp_path: Path) -> None:
    """One profile through all rounds; in half of them another process has it open while the child dies."""
    seed = random.randrange(2**32)
    choose, path, model = random.Random(seed), tmp_path / "profile.db", Model()
    answered = 0

    async def round_(number: int) -> Model:
        after, delay = ("started", 0.02) if number % 5 == 0 else ("resolved", 0.03)
        async with contextlib.AsyncExitStack() as stack:
            if number % 2:
                survivor = await stack.enter_async_context(hatbox.open(path))
            reports = killer.round(path, seed + number, delay=choose.uniform(0, delay), after=after)
            if not number % 2:
                survivor = await stack.enter_async_context(hatbox.open(path))
            nonlocal answered
            answered += sum(what == "resolved" for what, _ in reports)
            return matching(possible(model, reports), await listed(survivor), last_number(path))

    with hatbox.open_sync(path):
        pass
    for number in range(ROUNDS):
        try:
            model = asyncio.run(round_(number))
        except BaseException as error:
            error.add_note(f"in round {number} of seed {seed}")
            raise
    assert answered > ROUNDS  # they did get to work
    assert [file.name for file in tmp_path.iterdir()] == ([] if is_on_server() else [path.name])


def test_a_process_that_is_killed_while_it_makes_a_profile_leaves_a_whole_one_or_none(
    killer: Killer, tmp_path: Path
) -> None:
    seed = random.randrange(2**32)
    choose = random.Random(seed)
    found_none = 0

    async def opened(path: Path) -> list[Identity]:
        async with hatbox.open(path) as profile:
            return await listed(profile)

    usual = min(seconds_to_make(killer, tmp_path / f"measured {number}.db") for number in range(3))
    for number in range(ROUNDS_ON_NEW_PROFILES):
        path = tmp_path / str(number) / "profile.db"
        try:
            reports = killer.round(path, seed + number, delay=choose.uniform(0, 1.5 * usual), after="started")
            has_none = not exists(path)
            found_none += has_none
            usual *= 1.3 if has_none else 0.8  # the machine has become slower, or faster, since it was measured
            matching(possible(Model(), reports), asyncio.run(opened(path)), last_number(path))
        except BaseException as error:
            error.add_note(f"in round {number} of seed {seed}")
            raise
    assert 0 < found_none < ROUNDS_ON_NEW_PROFILES  # some died before, some after it was made


def seconds_to_make(killer: Killer, path: Path) -> float:
    """How long it takes a child to make a profile, here and now."""
    began = time.monotonic()
    killer.round(path, 0, delay=0, after="open")
    return time.monotonic() - began
