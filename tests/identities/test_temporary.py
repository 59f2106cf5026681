"""Temporary identities: gone with their last tab or their program, also if it was killed, and never before."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.identities.clean_up import clean_up
from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId
from hatbox.tabs.identity_removal import temporary_key
from hatbox.tabs.program_records import ProgramRecord, find_records, put_record
from tests.postgres import address_of
from tests.store.in_loop import in_loop

ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio, sys
import hatbox

async def main(address):
    async with hatbox.open(address) as profile, profile.temporary("Mine") as identity:
        await profile.tabs.open(identity)
        await profile.create_temporary("No tabs")
        await profile.tabs.open(await profile.create_temporary("A tab"))
        print(identity.cookie_store_id, flush=True)
        await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
"""
FOUR = ["Personal", "Work", "Banking", "Shopping"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


async def names(profile: hatbox.Profile) -> list[str]:
    return [identity.name for identity in await profile.identities.query()]


@in_loop
async def test_an_identity_is_gone_with_its_block_and_scripts_observe_its_removal(path: Path) -> None:
    async with hatbox.open(path) as profile:
        removed: list[str] = []
        profile.identities.on_removed.add_listener(lambda each: removed.append(each.cookie_store_id))
        async with profile.temporary() as identity:
            assert identity.name == f"Temporary {identity.cookie_store_id.rpartition('-')[2]}"
            await (await profile.cookie_store(identity)).receive(["a=1"], "https://site.example/")
            await profile.tabs.open(identity, "https://site.example/")
            await profile.tabs.close([tab.id for tab in await profile.tabs.query(identity)])
            assert await names(profile) == [*FOUR, identity.name]  # not with its last tab
            await profile.tabs.open(identity)
        assert removed == [identity.cookie_store_id]
        assert (await names(profile), await profile.tabs.query()) == (FOUR, [])
        assert await profile.store.read(find_records) == []
        with pytest.raises(ZeroDivisionError):
            async with profile.temporary("Named", color="red", icon="pet") as named:
                assert (named.name, named.color, named.icon) == ("Named", "red", "pet")
                raise ZeroDivisionError
        async with profile.temporary() as gone:
            await profile.identities.remove(gone)  # by another program: no error at the end
        assert await names(profile) == FOUR


@in_loop
async def test_a_cancelled_block_and_a_closed_profile_remove_it_too(path: Path) -> None:
    async with hatbox.open(path) as profile:
        entered = asyncio.Event()

        async def wait() -> None:
            async with profile.temporary():
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(wait())
        await entered.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await names(profile) == FOUR
        left_open = profile.temporary()
        await left_open.__aenter__()
    await left_open.__aexit__(None, None, None)
    async with hatbox.open(path) as profile:
        assert await names(profile) == FOUR


@in_loop
async def test_an_identity_is_gone_with_its_last_tab_in_one_commit(path: Path) -> None:
    async with hatbox.open(path) as profile:
        seen: list[str] = []
        profile.tabs.on_removed.add_listener(lambda removal: seen.append(f"tab {removal.tab.id}"))
        profile.identities.on_removed.add_listener(lambda each: seen.append(each.name))
        identity = await profile.create_temporary("Until the last tab")
        one, two = await profile.tabs.open(identity), await profile.tabs.open(identity)
        other = await profile.tabs.open("Work")
        await profile.tabs.close([one.id, other.id])
        assert identity in await profile.identities.query()
        await profile.identities.hide(identity)
        await profile.tabs.close(two.id)
        assert seen == [f"tab {one.id}", f"tab {other.id}", f"tab {two.id}", "Until the last tab"]
        assert await names(profile) == FOUR
        with_tab = await profile.create_temporary()
        await profile.tabs.open(with_tab)
        await profile.identities.remove(with_tab)
        assert len([each for each in seen if each == with_tab.name]) == 1
        await profile.create_temporary("Without a tab")
    async with hatbox.open(path) as profile:
        assert await names(profile) == FOUR


@pytest.mark.process
@in_loop
async def test_the_identities_of_a_killed_program_are_removed_by_the_next_one_but_not_while_it_runs(path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, address_of(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as program:  # noqa: ASYNC220 - the test waits
        assert program.stdout
        program.stdout.readline()
        async with hatbox.open(path) as profile:
            assert await names(profile) == [*FOUR, "Mine", "No tabs", "A tab"]
            await clean_up(profile.store)
            assert await names(profile) == [*FOUR, "Mine", "No tabs", "A tab"]
            program.kill()
            program.wait()
            async with profile.http_engine():  # an engine that starts removes them, and so does the next open
                assert await names(profile) == [*FOUR, "A tab"]
    async with hatbox.open(path) as profile:
        (tab,) = await profile.tabs.query()
        await profile.tabs.close(tab.id)
        assert await names(profile) == FOUR
        assert await profile.store.read(find_records) == []


@in_loop
async def test_a_record_of_another_identity_removes_nothing(path: Path) -> None:
    """A profile that was restored or copied can have a record whose id belongs to another identity."""
    ended = ProcessId("gone", 1, "1")
    async with hatbox.open(path) as profile:

        def put(transaction: Transaction) -> None:
            put_record(transaction, temporary_key(2), ProgramRecord(ended, identity="00000000-other"))
            put_record(transaction, temporary_key(3), ProgramRecord(ended, identity="other", until_last_tab=True))
            put_record(transaction, temporary_key(99), ProgramRecord(ended, identity="no such identity"))

        await profile.store.write(put)
        await profile.tabs.close((await profile.tabs.open("Banking")).id)
        await clean_up(profile.store)
        assert await names(profile) == FOUR
        assert await profile.store.read(find_records) == []
