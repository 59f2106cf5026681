"""Tabs of scripts: closed with the script, also if it was killed, and no other tab is touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.identities.clean_up import clean_up
from hatbox.store.base import Transaction
from hatbox.tabs.script_tabs import (
    add_script_tab,
    close_script_tabs,
    inherit_script,
    run_key,
)
from tests.postgres import address_of
from tests.store.in_loop import in_loop

PROGRAM = """
import asyncio, sys
import hatbox
from hatbox.tabs.script_tabs import add_script_tab

async def main(address):
    async with hatbox.open(address) as profile:
        await profile.store.register_process()
        tab = await profile.tabs.open("Work", "https://script.example/")
        await profile.store.write(lambda each: add_script_tab(each, "run", tab.id))
        print(tab.id, flush=True)
        await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


async def tab_ids(profile: hatbox.Profile) -> list[int]:
    return [tab.id for tab in await profile.tabs.query()]


@in_loop
async def test_a_run_that_ends_closes_its_tabs_and_no_other(path: Path) -> None:
    async with hatbox.open(path) as profile:
        mine, popup, other_run, user = [(await profile.tabs.open("Work")).id for _ in range(4)]

        def mark(transaction: Transaction) -> None:
            add_script_tab(transaction, "one", mine)
            inherit_script(transaction, mine, popup)
            add_script_tab(transaction, "two", other_run)
            inherit_script(transaction, user, user)  # the user's page opens one: it is the user's

        await profile.store.write(mark)
        await profile.store.write(lambda each: close_script_tabs(each, run_key("one")))
        assert await tab_ids(profile) == [other_run, user]
        await profile.store.write(lambda each: close_script_tabs(each, run_key("one")))  # twice is no error
        await clean_up(profile.store)  # the process of "two" is this one
        assert await tab_ids(profile) == [other_run, user]


@in_loop
async def test_a_run_with_many_closed_tabs_does_not_grow(path: Path) -> None:
    async with hatbox.open(path) as profile:
        for _ in range(20):
            tab = await profile.tabs.open("Work")
            await profile.store.write(lambda each, tab=tab: add_script_tab(each, "run", tab.id))  # type: ignore[misc]
            await profile.tabs.close(tab.id)
        (record,) = await profile.store.read(lambda each: each.extensions.find("programs"))
        assert len(record[2]) < 400


@pytest.mark.process
@in_loop
async def test_the_tabs_of_a_killed_script_are_gone_when_the_profile_is_next_opened(path: Path) -> None:
    async with hatbox.open(path) as profile:
        kept = await profile.tabs.open("Work", "https://user.example/")
    with subprocess.Popen(  # noqa: ASYNC220 - the test waits for it
        [sys.executable, "-c", PROGRAM, address_of(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as script:
        assert script.stdout
        opened = int(script.stdout.readline())
        async with hatbox.open(path) as profile:  # it runs: its tab stays
            assert await tab_ids(profile) == [kept.id, opened]
        script.kill()
    async with hatbox.open(path) as profile:
        assert await tab_ids(profile) == [kept.id]
        assert await profile.store.read(lambda each: each.extensions.find("programs")) == []
