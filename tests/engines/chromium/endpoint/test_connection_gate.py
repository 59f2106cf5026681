"""Connections to the server of an endpoint, without a browser: other users, floods and guessed tokens."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus

from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.connection_gate import ConnectionGate
from hatbox.engines.chromium.endpoint.endpoint import Endpoint
from hatbox.errors import EngineError
from tests.engines.chromium.endpoint.raw_client import RawClient

TOKEN = "the-right-token"
GATE = "hatbox.engines.chromium.endpoint.connection_gate"


class Service:
    """A browser that answers nothing."""

    async def version(self) -> dict[str, Any]:
        raise NotImplementedError

    async def targets(self) -> list[dict[str, Any]]:
        return []

    async def connect(self, socket: ServerConnection, *_: object) -> None:
        await socket.wait_closed()


async def started(gate: ConnectionGate | None = None) -> Endpoint:
    endpoint = Endpoint(Service(), authorize_token(TOKEN, TokenAuthorization()), gate)
    await endpoint.start()
    return endpoint


def test_a_port_without_a_token_is_for_programs_of_this_user_and_for_no_web_page() -> None:
    async def use() -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with pytest.raises(EngineError, match="other users"):
            await Endpoint(Service(), authorize_token("", TokenAuthorization()), ConnectionGate()).start(port)
        allowed = [False]
        gate = ConnectionGate(lambda *_: allowed[0])
        endpoint = Endpoint(Service(), authorize_token("", TokenAuthorization()), gate)
        await endpoint.start(port)
        assert endpoint.port == port
        url = f"ws://127.0.0.1:{port}/devtools/browser/hatbox"
        with pytest.raises((OSError, InvalidHandshake, InvalidMessage, EOFError)):
            await RawClient(url).__aenter__()
        allowed[0] = True
        async with RawClient(url):
            assert endpoint.clients == 1
        for headers in (
            {"Origin": "http://evil.test"},
            {"Host": f"evil.test:{port}"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            with pytest.raises(InvalidHandshake):
                await RawClient(url, additional_headers=headers).__aenter__()
        await endpoint.close()

    asyncio.run(use())


def test_other_users_of_the_machine_are_refused_with_a_valid_token(caplog: pytest.LogCaptureFixture) -> None:
    async def use() -> None:
        ports: list[tuple[int, int]] = []

        def is_of_user(client: int, server: int) -> bool:
            ports.append((client, server))
            return False

        endpoint = await started(ConnectionGate(is_of_user))
        with pytest.raises((OSError, InvalidHandshake, InvalidMessage, EOFError)):
            await RawClient(endpoint.url(TOKEN)).__aenter__()
        assert ports[0][1] == endpoint.port
        assert endpoint.clients == 0
        await endpoint.close()
        own = await started()
        async with RawClient(own.url(TOKEN)):
            assert own.clients == 1
        await own.close()

    caplog.set_level(logging.DEBUG)
    asyncio.run(use())
    assert "not of this user" in caplog.text
    assert not [each for each in caplog.records if each.name.startswith("hatbox") and TOKEN in each.getMessage()]


def test_connections_that_send_nothing_are_few_and_do_not_stop_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{GATE}.MAX_WAITING", 2)

    async def use() -> None:
        endpoint = await started()
        async with RawClient(endpoint.url(TOKEN)), RawClient(endpoint.url(TOKEN)), RawClient(endpoint.url(TOKEN)):
            silent = [await asyncio.open_connection("127.0.0.1", endpoint.port) for _ in range(2)]
            reader, writer = await asyncio.open_connection("127.0.0.1", endpoint.port)
            with pytest.raises(ConnectionError):  # closed at once
                assert await reader.read() == b""
                raise ConnectionResetError
            writer.close()
            for _, each in silent:
                each.close()
                await each.wait_closed()
            async with RawClient(endpoint.url(TOKEN)):
                assert endpoint.clients == 4
        await endpoint.close()

    asyncio.run(use())


def test_wrong_tokens_are_few_in_a_second_and_do_not_stop_valid_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{GATE}._MAX_CHECKS", 2)
    checked: list[str] = []

    async def guess(endpoint: Endpoint, token: str) -> None:
        with pytest.raises(InvalidStatus, match="404"):
            await RawClient(endpoint.url(token)).__aenter__()
        checked.append(token)

    async def use() -> None:
        endpoint = await started()
        loop = asyncio.get_running_loop()
        begin = loop.time()
        guesses = [asyncio.ensure_future(guess(endpoint, f"{TOKEN[:-1]}{each}")) for each in range(10)]
        async with RawClient(endpoint.url(TOKEN)):
            assert endpoint.clients == 1
        await asyncio.gather(*guesses)
        assert loop.time() - begin >= 0.4  # ten, two at a time, each at least 0.1 s; clocks are coarse
        await endpoint.close()

    asyncio.run(use())
    assert len(checked) == 10


def test_one_token_does_not_take_the_places_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.endpoint.MAX_CLIENTS_OF_TOKEN", 1)

    async def use() -> None:
        authorization = TokenAuthorization()
        endpoint = Endpoint(Service(), lambda token: authorization if token in ("one", "two") else None)
        await endpoint.start()
        async with RawClient(endpoint.url("one")):
            with pytest.raises(InvalidStatus, match="503"):
                await RawClient(endpoint.url("one")).__aenter__()
            async with RawClient(endpoint.url("two")):
                assert endpoint.clients == 2
        await endpoint.close()

    asyncio.run(use())
