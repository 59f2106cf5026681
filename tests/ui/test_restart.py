"""The server is killed and started again on the same port: pages continue, and no call runs twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosedError

import hatbox
from hatbox.ui.page_calls import DONE
from tests.ui.locked_profile import locked_profile
from tests.ui.page_client import PageClient, open_link
from tests.ui.served_process import ServedProcess, free_port, profile_argument
from tests.waiting import in_time, until

pytestmark = pytest.mark.process

_COUNT = 400
_KILLS = (60, 180)  # results after which the server is killed


async def test_a_killed_server_runs_each_call_of_a_flood_once(tmp_path: Path) -> None:
    profile, port = profile_argument(tmp_path / "profile.db"), free_port()
    arguments = (profile, "--port", str(port), "--stay")
    server = await ServedProcess.start(*arguments, state=tmp_path)
    results: Counter[str] = Counter()
    try:
        async with PageClient(await open_link(server.link)) as client:
            reached = {count: asyncio.Event() for count in _KILLS}

            def count(done: asyncio.Future[object]) -> None:
                error = done.exception()
                results["done before" if error and str(error) == DONE else "failed" if error else "answered"] += 1
                for number, event in reached.items():
                    if results.total() >= number:
                        event.set()

            calls = []
            for number in range(_COUNT):
                details = {"name": f"identity {number}", "color": "red", "icon": "gift"}
                calls.append(client.call("contextualIdentities.create", details))
                calls[-1].add_done_callback(count)
            for event in reached.values():
                await in_time(event.wait(), "the page has not received results")
                await server.kill()
                server = await ServedProcess.start(*arguments, state=tmp_path)
            await in_time(asyncio.wait(calls), "some calls have no result")
            identities = await client.call("contextualIdentities.query", {})
            assert client.welcomes.count(False) > 1, "the page has not noticed"
    finally:
        status = await server.interrupt()
    names = [each["name"] for each in identities][4:]
    assert sorted(names) == sorted(f"identity {number}" for number in range(_COUNT))
    assert results["failed"] == 0 and results.total() == _COUNT
    assert status == 0


@pytest.mark.parametrize("presses", [1, 2])
async def test_after_ctrl_c_a_change_that_waits_in_the_old_server_is_made_once(tmp_path: Path, presses: int) -> None:
    """Press Ctrl-C once or twice, and run `hatbox ui` at once, while another program has locked the profile."""
    profile = profile_argument(tmp_path / "profile.db")
    arguments = (profile, "--port", str(free_port()), "--stay")
    notices = tmp_path / "notices"
    server = first = await ServedProcess.start(*arguments, state=tmp_path)
    try:
        async with PageClient(await open_link(first.link)) as page:
            with locked_profile(tmp_path / "profile.db") as unlock:
                call = page.call("contextualIdentities.create", {"name": "Once", "color": "red", "icon": "gift"})
                await until(lambda: page.is_acknowledged)
                for _ in range(presses):
                    first.press_ctrl_c()
                    await until(lambda: not page.is_connected)
                with notices.open("wb") as file:
                    process = await ServedProcess.spawn(*arguments, state=tmp_path, stderr=file)
                await until(lambda: notices.read_bytes() or len(page.welcomes) > 1)
                unlock()
            server = await ServedProcess.ready(process)
            results = await in_time(asyncio.gather(call, return_exceptions=True), "the call has no result")
            identities = await page.call("contextualIdentities.query", {})
            assert [each["name"] for each in identities][4:] == ["Once"]
            assert isinstance(results[0], dict) or str(results[0]) == DONE
            assert await first.ended() == 0
            if presses == 1:
                assert notices.read_text() == (
                    f"Waiting for process {first.process.pid}, which starts or ends the manager page. "
                    "Press Ctrl-C to stop waiting.\n"
                )
    finally:
        await server.interrupt()


async def test_after_a_restart_a_cookie_is_accepted_only_from_pages_that_were_open(tmp_path: Path) -> None:
    """Another program that had the port meanwhile may have answered a reloaded page, and have read its hello."""
    arguments = (profile_argument(tmp_path / "profile.db"), "--port", str(free_port()), "--stay")
    server = await ServedProcess.start(*arguments, state=tmp_path)
    try:
        async with PageClient(await open_link(server.link)) as page:
            stolen = PageClient((page.url, page.cookie, page.key))
            await server.kill()
            server = await ServedProcess.start(*arguments, state=tmp_path)
            await page.call("contextualIdentities.query", {})
            for session in (page.session, stolen.session):
                stolen.session = session
                for answer in ("", "0" * 64, "\u00fc", page.secret):
                    with pytest.raises(ConnectionClosedError, match="4403"):
                        await stolen.open_with(answer)
            await page.call("contextualIdentities.query", {})
            async with PageClient((page.url, page.cookie, page.key)) as reloaded:  # this server is the one that runs
                await reloaded.call("contextualIdentities.query", {})
    finally:
        await server.interrupt()


async def test_records_of_calls_are_deleted_when_the_page_has_the_results(tmp_path: Path) -> None:
    profile = profile_argument(tmp_path / "profile.db")
    server = await ServedProcess.start(profile, "--stay", state=tmp_path)
    try:
        cookie = await open_link(server.link)
        async with PageClient(cookie) as client:
            for number in range(30):
                details = {"name": f"identity {number}", "color": "red", "icon": "gift"}
                await client.call("contextualIdentities.create", details)
            async with hatbox.open(profile) as opened:
                records = await opened.store.read(lambda each: each.extensions.find("call", ""))
                assert 0 < len(records) < 10
    finally:
        await server.interrupt()
