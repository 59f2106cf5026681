"""Requests of clients are in the activity log, if their identity has its activity recorded: host and time, no more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.request import Request

import pytest

import hatbox
from hatbox.testing import LoopbackSite
from tests.postgres import address_of
from tests.store.in_loop import in_loop


@pytest.fixture
def address(tmp_path: Path) -> str:
    return address_of(tmp_path / "profile.db")


@in_loop
async def test_only_requests_of_recorded_identities_are_in_the_log(address: str) -> None:
    with LoopbackSite() as site:
        async with hatbox.open(address) as profile:
            async with profile.httpx("Work") as client, profile.aiohttp("Work") as session:
                for recorded in (False, True, False):
                    await profile.activity_log.set_recorded("Work", recorded)
                    await client.get(site.url("/secret?secret"))
                    async with session.get(site.url("/secret?secret")) as response:
                        await response.read()
            async with profile.httpx("Personal") as client, profile.httpx("firefox-default") as default:
                await asyncio.gather(client.get(site.url("/")), default.get(site.url("/")))
            found = await profile.activity_log.query()
            assert sum(each.times for each in found) == 2
            assert {(each.identity, each.action, each.host, each.outcome, each.grant) for each in found} == {
                ("firefox-container-2", "fetch", "localhost", "sent", "")
            }
            assert "secret" not in repr(await profile.store.read(lambda each: each.activity.latest(10)))


def test_requests_of_clients_without_an_event_loop_are_recorded(address: str) -> None:
    with LoopbackSite() as site, hatbox.open_sync(address) as profile:
        profile.activity_log.set_recorded("Work", True)
        with profile.requests("Work") as session, profile.httpx("Work") as client:
            session.get(site.url("/"))
            client.get(site.url("/"))
        profile.urllib("Work").open(Request(site.url("/"))).close()
        assert sum(each.times for each in profile.activity_log.query(identity="Work")) == 3
