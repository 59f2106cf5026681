"""Reads in parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

import hatbox
from hatbox.manager_api import partial_reads
from hatbox.manager_api.partial_reads import read_parts
from hatbox.store.base import Transaction
from tests.store.in_loop import in_loop


@in_loop
async def test_other_tasks_run_while_many_rows_are_read(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_reads, "PART", 2)
    seen: list[object] = []

    def read(_: Transaction, part: Sequence[int]) -> list[int]:
        return list(part)

    async with hatbox.open(address) as profile:
        reading = asyncio.create_task(read_parts(profile.store, range(101), read))
        while not reading.done():
            seen.append(None)
            await asyncio.sleep(0)
        parts = await reading
    assert [each for part in parts for each in part] == list(range(101))
    assert max(map(len, parts)) == 2
    assert len(seen) >= 50


@in_loop
async def test_an_identity_that_is_removed_during_a_list_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_reads, "PART", 1)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        names = ["One", "Two", "Three"]
        for name in names:
            await profile.identities.create(name)
        api = profile.browser(["hatbox"]).hatbox.identities
        listing = asyncio.ensure_future(api.list())
        await asyncio.sleep(0)
        await profile.identities.remove("Three")
        listed = [each["name"] for each in await listing]
        assert [name for name in listed if name in names] == ["One", "Two"]


@in_loop
async def test_tabs_are_listed_in_parts_with_their_places_and_without_those_that_are_closed_meanwhile(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_reads, "PART", 2)
    async with hatbox.open(address) as profile:
        opened = [await profile.tabs.open(name, f"https://{name}.example/") for name in ("Work", "Personal") * 3]
        api = profile.browser(["hatbox"]).hatbox.tabs
        listed = await api.list()
        assert [(each["id"], each["index"]) for each in listed] == [
            (each.id, each.index) for each in await profile.tabs.query()
        ]
        of_work = await api.list({"cookieStoreId": opened[0].cookie_store_id})
        assert of_work == [each for each in listed if each["cookieStoreId"] == opened[0].cookie_store_id]
        assert await api.list({"ids": [each["id"] for each in listed[:3]]}) == listed[:3]
        listing = asyncio.ensure_future(api.list())
        await asyncio.sleep(0)
        await profile.tabs.close(listed[-1]["id"])
        assert [each["id"] for each in await listing][:5] == [each["id"] for each in listed[:5]]
