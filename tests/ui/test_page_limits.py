"""Clients that use too much, or nothing: each limit ends their connection, and others are served."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from hatbox.profile import Profile
from hatbox.ui.page_limits import PageLimits
from tests.ui.manager import Manager, open_manager
from tests.ui.page_client import PageClient, hello, open_link
from tests.waiting import until


@asynccontextmanager
async def raw_socket(manager: Manager, **options: Any) -> AsyncIterator[ClientConnection]:
    url, cookie, _ = await open_link(manager.server.create_link())
    headers = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{manager.server.port}"}
    bridge = url.replace("http", "ws", 1) + "bridge"
    async with connect(bridge, additional_headers=headers, proxy=None, open_timeout=60, **options) as websocket:
        yield websocket


async def close_code(websocket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed):
        while True:
            await websocket.recv()
    return websocket.close_code or 0


WHOLE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
PART = b"GET / HTTP/1.1\r\nHost: "


async def test_a_connection_that_sends_nothing_or_a_part_of_a_request_is_closed(tmp_path: Path) -> None:
    async with open_manager(tmp_path / "profile.db", limits=PageLimits(request_timeout=0.2)) as manager:
        for start, then in ((b"", b""), (PART, b""), (WHOLE, PART), (WHOLE + PART, b""), (WHOLE + PART, b"x")):
            reader, writer = await asyncio.open_connection("127.0.0.1", manager.server.port)
            writer.write(start)
            if start.startswith(WHOLE):
                assert b"403" in await reader.readuntil(b"\r\n\r\n")
            writer.write(then)
            with pytest.raises(ConnectionResetError):
                async with asyncio.timeout(4):  # the time of uvicorn for the next request is 5 seconds
                    await reader.read()
                raise ConnectionResetError
            writer.close()
        async with raw_socket(manager) as websocket:
            assert await close_code(websocket) == 1002


INVALID: list[tuple[str, Callable[[ClientConnection], Awaitable[None]]]] = [
    ("not JSON", lambda each: each.send("nonsense")),
    ("no array", lambda each: each.send("{}")),
    ("a gap", lambda each: each.send("[5,0,[]]")),
    ("not sent", lambda each: each.send("[1,99,[]]")),
    ("unknown message", lambda each: each.send('[1,0,[["boot",{}]]]')),
    ("a fetch", lambda each: each.send('[1,0,[["f",1,{"url":"http://127.0.0.1/"}]]]')),
    ("deep", lambda each: each.send("[" * 100_000)),
    ("binary", lambda each: each.send(b"[1,0,[]]")),
    ("large", lambda each: each.send(json.dumps([1, 0, [["c", 1, "x" * 2_000_000, []]]]))),
]


@pytest.mark.slow
async def test_an_invalid_text_ends_the_session_and_no_other(tmp_path: Path) -> None:
    async with (
        open_manager(tmp_path / "profile.db", limits=PageLimits(text=1 << 20)) as manager,
        PageClient(await open_link(manager.server.create_link())) as page,
    ):
        for number, (name, send) in enumerate(INVALID):
            async with raw_socket(manager) as websocket:
                await websocket.send(hello(manager.server.keys.page_key, f"0123456789abcdef{number}"))
                await websocket.recv()
                await send(websocket)
                assert await close_code(websocket) in (1002, 1009), name
        for text in ("{}", "[]", '{"session":"../../../../../x","received":0}', hello("", "short")):
            async with raw_socket(manager) as websocket:
                await websocket.send(text)
                assert await close_code(websocket) == 1002, text
        assert (await page.call("hatbox.getProfile"))["label"] == manager.profile.label
        assert page.welcomes == [False]


async def test_a_page_that_does_not_read_is_disconnected(tmp_path: Path) -> None:
    limits = PageLimits(send_timeout=0.3, high_water=1 << 16)
    async with open_manager(tmp_path / "profile.db", limits=limits) as manager:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", manager.server.port))
        connection.setblocking(False)
        async with raw_socket(manager, sock=connection, max_queue=1, ping_interval=None) as websocket:
            await websocket.send(hello(manager.server.keys.page_key))
            for number in range(1, 3000):
                if not manager.server.sockets.connected and number > 100:
                    break
                try:
                    await websocket.send(json.dumps([number, 0, [["c", number, "contextualIdentities.query", [{}]]]]))
                except ConnectionClosed:
                    break
            await until(lambda: manager.server.sockets.connected == 0)


async def test_pages_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    async with (
        open_manager(tmp_path / "profile.db", limits=PageLimits(pages=1)) as manager,
        PageClient(await open_link(manager.server.create_link())),
        raw_socket(manager) as websocket,
    ):
        await websocket.send(hello(manager.server.keys.page_key))
        assert await close_code(websocket) == 1013


async def test_a_flood_of_calls_of_one_page_does_not_delay_another(manager: Manager) -> None:
    link = manager.server.create_link
    async with PageClient(await open_link(link())) as flooding, PageClient(await open_link(link())) as other:
        details = {"color": "red", "icon": "gift"}
        calls = [
            flooding.call("contextualIdentities.create", {"name": str(number), **details}) for number in range(500)
        ]
        await calls[0]
        await other.call("hatbox.getProfile")
        await asyncio.gather(*calls)


async def test_the_session_of_a_closed_page_ends_when_its_calls_are_done(manager: Manager) -> None:
    async with raw_socket(manager) as websocket:
        await websocket.send(hello(manager.server.keys.page_key))
        await websocket.recv()
        details = {"name": "Last", "color": "red", "icon": "gift"}
        await websocket.send(json.dumps([1, 0, [["c", 1, "contextualIdentities.create", [details]]]]))
        await websocket.close(1001)
    await until(lambda: manager.server.sockets.sessions == 0)
    assert "Last" in [each.name for each in await manager.profile.identities.query()]
    await manager.server.wait_until_unused(0.01)


async def test_a_backup_goes_on_when_its_page_was_closed_and_the_server_ends_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))  # for profiles without a folder
    write, started, may_go_on, stopped = Profile.backup, asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def paused(self: Profile, *arguments: Any, **named: Any) -> Any:
        started.set()
        try:
            await may_go_on.wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return await write(self, *arguments, **named)

    monkeypatch.setattr(Profile, "backup", paused)
    async with open_manager(tmp_path / "profile.db", limits=PageLimits(closing_timeout=0.01)) as manager:
        progress: list[dict[str, Any]] = []
        manager.browser.hatbox.archives.onProgress.addListener(progress.append)
        await _start_backup_and_close(manager, "first", started)
        ending = asyncio.ensure_future(manager.server.wait_until_unused(0.0))
        await asyncio.wait([ending], timeout=0.1)
        assert not ending.done() and not stopped.is_set()
        may_go_on.set()
        await asyncio.wait_for(ending, 60)
        assert (tmp_path / "backups" / "first.hatbox").exists()
        await until(lambda: progress and progress[-1]["state"] == "finished")
        may_go_on.clear()
        await _start_backup_and_close(manager, "second", started)
    assert stopped.is_set(), "a server that is stopped waits for no backup"


async def _start_backup_and_close(manager: Manager, name: str, started: asyncio.Event) -> None:
    """Start a backup in a page, and close the page until its session has ended."""
    started.clear()
    async with raw_socket(manager) as page:
        await page.send(hello(manager.server.keys.page_key))
        await page.recv()
        await page.send(json.dumps([1, 0, [["c", 1, "hatbox.archives.backup", [{"name": name}]]]]))
        await started.wait()
        await page.close(1001)
    await until(lambda: manager.server.sockets.sessions == 0)


async def test_a_result_that_is_too_large_is_an_error_of_its_call_and_the_page_goes_on(tmp_path: Path) -> None:
    limits = PageLimits(results=1 << 16)
    async with (
        open_manager(tmp_path / "profile.db", limits=limits) as manager,
        PageClient(await open_link(manager.server.create_link())) as page,
    ):
        name = "x" * 20_000
        for _ in range(5):
            await page.call("contextualIdentities.create", {"name": name, "color": "red", "icon": "gift"})
        large = page.call("contextualIdentities.query", {})
        assert (await page.call("hatbox.getProfile"))["label"] == manager.profile.label
        with pytest.raises(RuntimeError, match="too large for this page"):
            await large
        assert len(await page.call("contextualIdentities.query", {"name": "Work"})) == 1
        assert page.welcomes == [False]
