"""The inspector: DevTools attach with the address that `--inspect` prints, and no other program or page does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from hatbox.extensions.runtime.inspector import devtools_url
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno

DEVTOOLS = "devtools://devtools"


def inspected(tmp_path: Path, use: Callable[[Lab, str], Awaitable[None]]) -> None:
    async def main(lab: Lab) -> None:
        runtime = await lab.start("var secret = 'cookie';", inspect=True)
        await use(lab, await runtime.process.inspector)

    in_lab(tmp_path, main)


async def evaluated(address: str, **options: Any) -> Any:
    """What DevTools get for an expression."""
    async with connect(address, **options) as client:
        await client.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"expression": "secret"}}))
        async for message in client:
            answer = json.loads(message)
            if answer.get("id") == 1:
                return answer["result"]["result"]["value"]
    raise AssertionError("no answer")


async def status_of(address: str, **options: Any) -> int:
    """How a client is refused."""
    with pytest.raises(InvalidStatus) as refused:
        async with connect(address, **options):
            pass
    return refused.value.response.status_code


def test_devtools_attach_with_the_address_that_is_printed(tmp_path: Path) -> None:
    async def use(_: Lab, address: str) -> None:
        assert await evaluated(address, origin=DEVTOOLS) == "cookie"
        assert await evaluated(address) == "cookie"  # an editor sends no origin
        assert devtools_url(address).endswith(f"&ws={address.removeprefix('ws://')}")

    inspected(tmp_path, use)


def test_several_clients_attach_at_once_and_one_that_leaves_harms_no_other(tmp_path: Path) -> None:
    async def use(_: Lab, address: str) -> None:
        async with connect(address, max_size=None) as first:
            assert await evaluated(address) == "cookie"
            await first.send(
                json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"expression": "'x'.repeat(3e6)"}})
            )
            assert len(await asyncio.wait_for(first.recv(), 20)) > 3e6

    inspected(tmp_path, use)


def test_without_the_token_nothing_attaches(tmp_path: Path) -> None:
    async def use(_: Lab, address: str) -> None:
        root, token = address.rsplit("/", 1)
        wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
        for path in (
            "",
            "ws",
            wrong,
            token[:-1],
            f"{token}/",
            f"{token}x",
            token.lower() + "-",
            f"x/{token}",
            f"?{token}",
        ):
            assert await status_of(f"{root}/{path}") == 403

    inspected(tmp_path, use)


@pytest.mark.parametrize(
    "origin",
    ["https://site.example", "http://127.0.0.1", "null", "chrome-extension://abcdef", "devtools://devtools.x", ""],
)
def test_a_web_page_does_not_attach_even_with_the_token(tmp_path: Path, origin: str) -> None:
    async def use(_: Lab, address: str) -> None:
        assert await status_of(address, additional_headers={"Origin": origin}) == 403

    inspected(tmp_path, use)


async def answer_to(address: str, *lines: str) -> str:
    """The first line of what comes back for a request that is written by hand."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode())
        return (await asyncio.wait_for(reader.read(), 20)).decode().partition("\r\n")[0]
    finally:
        writer.close()


HANDSHAKE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)


def test_a_name_that_was_rebound_to_loopback_does_not_attach(tmp_path: Path) -> None:
    async def use(_: Lab, address: str) -> None:
        port, path = urlsplit(address).port, urlsplit(address).path
        request = f"GET {path} HTTP/1.1"
        for host in (
            f"site.example:{port}",
            "site.example",
            "127.0.0.1",
            f"127.0.0.1.site.example:{port}",
            "127.0.0.1:1",
            "",
        ):
            assert "403" in await answer_to(address, request, f"Host: {host}", *HANDSHAKE)
        assert "403" in await answer_to(address, request, *HANDSHAKE)
        good = f"Host: 127.0.0.1:{port}"
        assert "400" in await answer_to(address, request, good, "Host: site.example", *HANDSHAKE)

    inspected(tmp_path, use)


def test_what_is_not_a_websocket_gets_nothing(tmp_path: Path) -> None:
    async def use(_: Lab, address: str) -> None:
        port, path = urlsplit(address).port, urlsplit(address).path
        host = f"Host: 127.0.0.1:{port}"
        for request in (
            f"GET {path} HTTP/1.1",
            "GET /json/list HTTP/1.1",
            "GET /json/version HTTP/1.1",
            "POST / HTTP/1.1",
        ):
            assert "400" in await answer_to(address, request, host)
        for garbage in ("", "\x00", f"GET {path} HTTP/1.1\r\n {host}", f"GET {path}\x7f HTTP/1.1", "é" * 100):
            assert "400" in await answer_to(address, garbage)
        assert await answer_to(address, "GET / HTTP/1.1", "X: " + "x" * 20000) == ""

    inspected(tmp_path, use)


def test_deno_behind_it_does_not_tell_its_own_address(tmp_path: Path) -> None:
    async def use(lab: Lab, address: str) -> None:
        own = f"127.0.0.1:{_own_port(lab)}"
        for path in ("json", "json/list", "json/version"):
            assert "404" in await answer_to(f"ws://{own}", f"GET /{path} HTTP/1.1", f"Host: {own}", "Connection: close")
        for path in ("", "ws", urlsplit(address).path.lstrip("/")):
            assert await status_of(f"ws://{own}/{path}") in (400, 404)

    inspected(tmp_path, use)


def _own_port(lab: Lab) -> int:
    """Where Deno itself listens."""
    (runtime,) = lab._running
    found = re.search(r"ws://127\.0\.0\.1:(\d+)/", runtime.process._stderr.text)
    assert found is not None
    return int(found[1])


def test_a_flood_of_connections_that_say_nothing_leaves_the_extension_running(tmp_path: Path) -> None:
    async def use(lab: Lab, address: str) -> None:
        port = urlsplit(address).port
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        (runtime,) = lab._running
        assert await runtime.evaluate("secret") == "cookie"
        for _, writer in silent:
            writer.close()
        while True:  # until the proxy has seen that they are gone
            try:
                assert await evaluated(address) == "cookie"
                break
            except (OSError, EOFError, WebSocketException):
                continue

    inspected(tmp_path, use)


def test_when_the_extension_ends_nobody_listens(tmp_path: Path) -> None:
    async def use(lab: Lab, address: str) -> None:
        (runtime,) = lab._running
        async with connect(address) as client:
            await runtime.stop()
            await asyncio.wait_for(client.wait_closed(), 20)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", urlsplit(address).port)

    inspected(tmp_path, use)
