"""Two `hatbox ui` for one profile, and one after the other: links to the running server, pages that continue."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
from pathlib import Path

import httpx
import pytest

import hatbox
from hatbox.cli.commands import ui
from hatbox.store.sqlite.file_lease import FileLease
from hatbox.ui import served_profile
from hatbox.ui import server as server_module
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.private_files import private_path
from hatbox.ui.served_profile import ServedProfile, ServerRecord
from hatbox.ui.server import ManagerServer
from tests.ui.page_client import PageClient, open_link
from tests.ui.served_process import ServedProcess, profile_argument
from tests.waiting import in_time, until


async def _run(profile: str, state: Path, *arguments: str) -> tuple[int | None, str, str]:
    """Run `hatbox ui --no-open` until it ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "hatbox", "ui", "--no-open", "--profile", profile, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )
    out, err = await in_time(process.communicate(), "`hatbox ui` has not ended")
    return process.returncode, out.decode(), err.decode()


@pytest.mark.process
async def test_another_command_gives_a_link_to_the_running_server_and_a_restart_continues_open_pages(
    tmp_path: Path,
) -> None:
    profile = profile_argument(tmp_path / "profile.db")
    server = await ServedProcess.start(profile, "--stay", state=tmp_path)
    try:
        status, out, err = await _run(profile, tmp_path, "--json")
        second = json.loads(out)
        assert (status, second["port"], second["process"]) == (0, server.port, server.process.pid)
        assert err == f"Process {server.process.pid} serves it already, on port {server.port}.\n"
        status, _, err = await _run(profile, tmp_path, "--port", "1")
        assert status == 1 and f"serves the manager page of this profile on port {server.port}" in err
        async with PageClient(await open_link(second["link"])) as page:
            await page.call("hatbox.getProfile")
            used = await asyncio.to_thread(httpx.get, second["link"], trust_env=False)
            assert used.status_code == 403, "a link works once"
            await server.kill()  # its lock and its record are stale now
            before, server = server, await ServedProcess.start(profile, state=tmp_path)
            assert server.port == before.port
            await until(lambda: len(page.welcomes) > 1)
            await page.call("hatbox.getProfile")
    finally:
        await server.interrupt()


@pytest.mark.process
async def test_a_port_that_another_program_took_meanwhile_is_not_used(tmp_path: Path) -> None:
    profile = profile_argument(tmp_path / "profile.db")
    server = await ServedProcess.start(profile, state=tmp_path)
    port = server.port
    assert await server.interrupt() == 0
    with socket.create_server(("127.0.0.1", port)):
        server = await ServedProcess.start(profile, state=tmp_path)
        assert server.port != port
        await server.interrupt()
    server = await ServedProcess.start(profile, "--port", "0", state=tmp_path)
    await server.interrupt()
    files = await asyncio.to_thread(lambda: [*tmp_path.rglob("*-ui-*")])
    assert not files, "with --port 0 neither port nor keys are stored"


async def test_without_a_check_of_users_the_port_is_the_same_and_no_cookie_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(server_module, "can_check_users", lambda: False)
    async with hatbox.open(profile_argument(tmp_path / "profile.db"), create=True) as profile:
        served = ServedProfile(profile.store)
        async with ManagerServer(profile, served=served) as first:
            cookie = first.keys.redeem(first.keys.create_token())
        assert cookie is not None
        assert served.keys.last_port == first.port and served.keys.load(first.port) is None
        async with ManagerServer(profile, port=served.keys.last_port, served=served) as again:
            assert not again.keys.accepts(cookie)


async def test_a_server_that_is_about_to_end_waits_for_a_link_that_was_created_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with hatbox.open(profile_argument(tmp_path / "profile.db"), create=True) as profile:
        served, other = ServedProfile(profile.store), ServedProfile(profile.store)
        assert await served.take() is None
        limits = PageLimits(resume_timeout=0.05)
        async with ManagerServer(profile, served=served, limits=limits) as server:
            async with PageClient(await open_link(server.create_link())) as page:
                await page.call("hatbox.getProfile")
                record = await other.take()
                assert record == server.record
                link = other.create_link(record)
                assert link is not None
            ending = asyncio.ensure_future(server.wait_until_unused(0.0))
            await until(lambda: server.sockets.sessions == 0)
            await asyncio.wait([ending], timeout=0.1)
            assert not ending.done()
            await open_link(link)
            await asyncio.wait_for(ending, 60)
            assert other.create_link(record) is None, "it has withdrawn"
            assert not other.grants.pending
        await served.release()
        assert await other.take() is None
        await other.release()


async def test_beside_a_server_that_does_not_end_no_other_one_starts_and_the_error_names_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(served_profile, "_WAIT_SECONDS", 0.1)
    async with hatbox.open(profile_argument(tmp_path / "profile.db"), create=True) as profile:
        ending, next_one = ServedProfile(profile.store), ServedProfile(profile.store)
        assert await ending.take() is None
        with pytest.raises(hatbox.ProfileError, match=rf"process {os.getpid()} has not finished .* or end it\."):
            await next_one.take()
        await ending.release()


@pytest.mark.slow
async def test_while_changes_are_being_saved_at_the_end_no_other_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If Ctrl-C is pressed again meanwhile, they may be saved until the process has ended."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with hatbox.open(profile_argument(tmp_path / "profile.db"), create=True) as profile:
        other = FileLease(private_path(profile.store, "lock"))

        async def interrupted() -> None:
            raise asyncio.CancelledError

        close, profile.close = profile.close, interrupted  # type: ignore[method-assign]
        serving = asyncio.ensure_future(ui._serve(profile, None, should_open=False, stay=True, as_json=True))
        await until(other.read_holder)
        serving.cancel()
        await asyncio.wait([serving])
        del serving
        gc.collect()
        assert other.read_holder()
        await served_profile._taken.pop().release()
        assert not other.read_holder()
        profile.close = close  # type: ignore[method-assign]


async def test_the_record_of_a_killed_server_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with hatbox.open(profile_argument(tmp_path / "profile.db"), create=True) as profile:
        served, other = ServedProfile(profile.store), ServedProfile(profile.store)
        served.announce(ServerRecord(9, 2**22 + 1, True))
        assert await served.take() is None
        finding = asyncio.ensure_future(other.take())
        served.announce(ServerRecord(10, os.getpid(), False))
        assert await finding == ServerRecord(10, os.getpid(), False)
        await served.release()
