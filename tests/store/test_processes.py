"""Several processes on one profile: what each sees of the others, and when."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess, Refused
from tests.waiting import until


@pytest.mark.process
@in_loop
async def test_a_reader_sees_what_another_process_has_committed_at_its_next_read(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        with OtherProcess(path) as other:
            for count in range(20):
                made = other.identities("create", f"theirs {count}", color="red", icon="pet")
                assert (await profile.identities.query())[-1].cookie_store_id == made["cookieStoreId"]
                mine = await profile.identities.create(f"mine {count}", color="red", icon="pet")
                assert other.identities("query")[-1]["cookieStoreId"] == mine.cookie_store_id
            other.identities("remove", mine.cookie_store_id)
            for answer in await asyncio.gather(profile.identities.get(mine), return_exceptions=True):
                assert isinstance(answer, hatbox.InvalidIdentity)
            await profile.identities.hide("firefox-container-1")
            assert other.identities("get", "firefox-container-1")["hidden"] is True
            await profile.identities.move("firefox-container-1", -1)
            assert other.identities("query")[-1]["cookieStoreId"] == "firefox-container-1"


@pytest.mark.smoke
@pytest.mark.process
@in_loop
async def test_an_event_of_another_process_arrives_without_a_call_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    heard: list[str] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.cookie_store_id))
        with OtherProcess(path) as other:
            committed: list[str] = []
            for count in range(50):
                [(made, _)] = await asyncio.to_thread(other.call, "create_many", [str(count)])
                committed.append(made)
                await until(lambda: len(heard) >= len(committed))
                assert heard == committed


@pytest.mark.process
@in_loop
async def test_four_processes_create_at_once_and_a_fifth_hears_of_all_in_commit_order(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    heard: list[tuple[str, str]] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(
            lambda identity: heard.append((identity.cookie_store_id, identity.name))
        )
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(OtherProcess(path)) for _ in range(4)]
            for number, other in enumerate(others):
                other.begin("create_many", [f"{number} {count}" for count in range(100)])
            made = [id_ for other in others for id_, _ in await asyncio.to_thread(other.finish)]
            await until(lambda: len(heard) >= 400)
            fence = others[0].identities("create", "fence", color="red", icon="pet")["cookieStoreId"]
            await until(lambda: heard[-1] == (fence, "fence"))  # what comes twice comes before it
        listed = [(identity.cookie_store_id, identity.name) for identity in await profile.identities.query()]
    assert len(made) == len(set(made)) == 400
    # Ids are given out in the order of the commits, so the list is the log.
    assert heard == listed[4:] == sorted(heard, key=lambda pair: int(pair[0].rpartition("-")[2]))
    for number in range(4):
        assert [name for _, name in heard if name.startswith(f"{number} ")] == [f"{number} {n}" for n in range(100)]


@pytest.mark.process
@in_loop
async def test_a_process_that_writes_itself_hears_of_the_others_in_commit_order(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    heard: list[str] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.cookie_store_id))
        with OtherProcess(path) as one, OtherProcess(path) as two:
            for number, other in enumerate((one, two)):
                other.begin("create_many", [f"{number} {count}" for count in range(150)])
            for count in range(30):
                await asyncio.gather(
                    *(profile.identities.create(f"mine {count} {n}", color="red", icon="pet") for n in range(5))
                )
            await asyncio.to_thread(one.finish)
            await asyncio.to_thread(two.finish)
            await until(lambda: len(heard) >= 450)
        assert heard == [identity.cookie_store_id for identity in await profile.identities.query()][4:]


@pytest.mark.process
@in_loop
async def test_every_kind_of_change_is_told_in_the_other_process(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    heard: list[tuple[str, str, bool]] = []

    def listen(name: str) -> Any:
        return lambda identity: heard.append((name, identity.name, identity.hidden))

    async with hatbox.open(path) as profile:
        for name in ("created", "updated", "removed", "moved", "hidden", "shown"):
            getattr(profile.identities, f"on_{name}").add_listener(listen(name))
        with OtherProcess(path) as other:
            made = other.identities("create", "a", color="red", icon="pet")["cookieStoreId"]
            other.identities("update", made, name="b")
            other.identities("hide", made)
            other.identities("hide", made)  # already hidden: no event
            other.identities("move", ["firefox-container-2", made], 0)
            other.identities("show", made)
            other.identities("remove", made)
            with contextlib.suppress(Refused):
                other.identities("remove", made)
            await until(lambda: len(heard) >= 7)
    assert heard == [
        ("created", "a", False),
        ("updated", "b", False),
        ("hidden", "b", True),
        ("moved", "Work", False),
        ("moved", "b", True),
        ("shown", "b", False),
        ("removed", "b", False),
    ]


@pytest.mark.process
@in_loop
async def test_a_process_that_is_killed_leaves_the_others_at_work(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    heard: list[str] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        with OtherProcess(path) as other:
            other.identities("create", "before it was killed", color="red", icon="pet")
            other.kill()
        await profile.identities.create("after", color="red", icon="pet")
        with OtherProcess(path) as other:
            assert [identity["name"] for identity in other.identities("query")][4:] == ["before it was killed", "after"]
            other.identities("create", "of the next", color="red", icon="pet")
        await until(lambda: len(heard) == 3)
    assert heard == ["before it was killed", "after", "of the next"]


@in_loop
async def test_news_arrive_in_time_while_our_own_change_waits_for_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        heard: asyncio.Queue[str] = asyncio.Queue()
        profile.identities.on_created.add_listener(lambda identity: heard.put_nowait(identity.name))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            await other.identities.create("news", color="red", icon="pet")
            blocker.execute("BEGIN IMMEDIATE")  # a third program that takes its time
            waiting = profile.identities.create("waits", color="red", icon="pet")
            busy_until = time.monotonic() + 0.1
            while time.monotonic() < busy_until:  # meanwhile the writer brings the same news several times
                pass
            async with asyncio.timeout(30):
                assert await heard.get() == "news"
            assert not waiting.done()
            blocker.execute("ROLLBACK")
        await waiting
        assert await heard.get() == "waits"
        assert heard.empty()


@in_loop
async def test_each_change_is_heard_once_by_programs_that_change_the_same_profile_all_the_time(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        heard: dict[str, list[str]] = {"one": [], "two": []}
        one.identities.on_created.add_listener(lambda identity: heard["one"].append(identity.name))
        two.identities.on_created.add_listener(lambda identity: heard["two"].append(identity.name))

        async def busy(profile: hatbox.Profile, name: str) -> None:
            for number in range(60):
                created = profile.identities.create(f"{name}{number}", color="red", icon="pet")
                await asyncio.gather(created, profile.identities.query("nobody"))  # a read that is a batch of its own

        await asyncio.gather(busy(one, "a"), busy(two, "b"))
        await until(lambda: len(heard["one"]) >= 120 and len(heard["two"]) >= 120)
        made = [identity.name for identity in await one.identities.query()][4:]
        assert heard["one"] == heard["two"] == made
