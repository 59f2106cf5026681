"""Clients whose socket is open and that stop reading: they are disconnected, and delay no other client."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from websockets.asyncio.server import ServerConnection

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.endpoint import Endpoint
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.engines.chromium.real import WITHIN, running, with_browser
from tests.waiting import until

TOKEN = "the-right-token"
LONG = 4_000_000  # more than the buffers of sockets


class UnreadingClient:
    """A WebSocket that reads what it needs, and nothing more. Connected inside `async with`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._port = endpoint.port

    async def __aenter__(self) -> Self:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", self._port))
        self.reader, self.writer = await asyncio.open_connection(sock=client, limit=4096)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET /{TOKEN} HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        ]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())
        assert b" 101 " in await self.reader.readuntil(b"\r\n\r\n")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.writer.transport.abort()

    def send(self, number: int, method: str, params: dict[str, Any], session: str = "") -> None:
        """Send a command; its mask is zero."""
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        self.writer.write(b"\x81" + size + bytes(4) + data)

    async def result(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a command."""
        self.send(number, method, params)
        while (message := json.loads(await self._read())).get("id") != number:
            pass
        return dict(message["result"])

    async def stop_reading(self) -> None:
        """Open a page, and request three long results of it, which stay in the buffers of Hatbox."""
        opened = await self.result(1, "Target.createTarget", {"url": "about:blank"})
        attached = await self.result(2, "Target.attachToTarget", {"targetId": opened["targetId"], "flatten": True})
        expression = {"expression": f"'x'.repeat({LONG})", "returnByValue": True}
        for number in (3, 4, 5):
            self.send(number, "Runtime.evaluate", expression, attached["sessionId"])

    async def _read(self) -> bytes:
        size = (await self.reader.readexactly(2))[1]
        if size > 125:
            size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
        return await self.reader.readexactly(size)


async def endpoint_of(runner: ChromiumRunner, authorization: TokenAuthorization) -> Endpoint:
    authorization.program = "The program"
    return await runner.open_endpoint("Work", authorize_token(TOKEN, authorization))


async def until_its_writer_waits(endpoint: Endpoint) -> None:
    await until(lambda: all(each.paused for each in endpoint._accepted))
    assert endpoint.clients


@with_browser
async def test_a_client_that_does_not_read_is_disconnected_when_its_grant_is_revoked(browser: str, path: Path) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        authorization = TokenAuthorization()
        endpoint = await endpoint_of(runner, authorization)
        async with UnreadingClient(endpoint) as client:
            await client.stop_reading()
            await until_its_writer_waits(endpoint)
            context = next(iter(running(runner).contexts))
            assert context.clients.programs == ["The program"]
            authorization.end()
            await until(lambda: endpoint.clients == 0)
            await until(lambda: not endpoint.programs)
            assert context.clients.programs == []  # the indicator names them


@with_browser
async def test_an_engine_with_a_client_that_does_not_read_stops(browser: str, path: Path) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        endpoint = await endpoint_of(runner, TokenAuthorization())
        async with UnreadingClient(endpoint) as client:
            await client.stop_reading()
            await until_its_writer_waits(endpoint)
            async with asyncio.timeout(WITHIN):
                await runner.stop()
            assert endpoint.clients == 0


@with_browser
async def test_clients_that_close_the_browser_and_do_not_read_free_their_places(
    browser: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.endpoint.MAX_CLIENTS_OF_TOKEN", 1)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        endpoint = await endpoint_of(runner, TokenAuthorization())
        async with UnreadingClient(endpoint) as client:
            await client.stop_reading()
            await until_its_writer_waits(endpoint)
            client.send(9, "Browser.close", {})
            await until(lambda: endpoint.clients == 0)
            async with RawClient(endpoint.url(TOKEN)) as other:
                assert await other.result("Browser.getVersion")


class LongAnswers:
    """A browser that sends much, and ends its connections itself."""

    async def version(self) -> dict[str, Any]:
        raise NotImplementedError

    async def targets(self) -> list[dict[str, Any]]:
        return []

    async def connect(self, socket: ServerConnection, *_: object) -> None:
        for _number in range(3):
            await socket.send("x" * LONG)


def test_an_endpoint_closes_with_connections_in_every_state() -> None:
    async def use() -> None:
        authorization = TokenAuthorization()
        endpoint = Endpoint(LongAnswers(), authorize_token(TOKEN, authorization))
        await endpoint.start()
        async with UnreadingClient(endpoint), UnreadingClient(endpoint) as closing:
            _, silent = await asyncio.open_connection("127.0.0.1", endpoint.port)  # sends no request
            closing.writer.write(b"\x88\x80" + bytes(4))  # the closing frame: it waits for the answer no more
            await until_its_writer_waits(endpoint)
            async with asyncio.timeout(WITHIN):
                await endpoint.close()
            await until(lambda: endpoint.clients == 0)
            silent.close()

    asyncio.run(use())
