"""The relay adds the credentials of a proxy, forwards to it alone, and serves only programs of this user."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.engines.chromium import proxy_relay
from hatbox.engines.chromium.proxy_relay import ProxyRelay, relay_for
from hatbox.errors import EngineError
from hatbox.identity.proxy_url import ProxyUrl
from hatbox.identity.settings import IdentitySettings
from tests.engines.chromium.outside import Outside
from tests.engines.chromium.recording_proxy import HANGS, REFUSES, RecordingProxy
from tests.waiting import until

SECRET = "p:a ss%40"


class Upstream:
    """A server that records the bytes of its only client, and answers each `expected` bytes with one line."""

    def __init__(self) -> None:
        self.received = b""

    async def __aenter__(self) -> Upstream:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.proxy = ProxyUrl("http", "127.0.0.1", self._server.sockets[0].getsockname()[1], "me", SECRET)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.received += data
        writer.close()


async def sent_through(data: bytes) -> bytes:
    """What the proxy gets if a client sends this and closes."""
    async with Upstream() as upstream:
        relay = await ProxyRelay.start(upstream.proxy)
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writer.write(data)
        writer.write_eof()
        async with asyncio.timeout(20):
            await reader.read()
        writer.close()
        await relay.close()
        return upstream.received


HEADER = b"Proxy-Authorization: Basic bWU6cDphIHNzJTQw\r\n"


def test_each_request_of_a_connection_gets_the_credentials() -> None:
    get = b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"
    post = b"POST http://a.test/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /"
    chunked = b"POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    received = asyncio.run(sent_through(get + post + chunked + get))
    assert received.count(HEADER) == 4
    assert received.replace(HEADER, b"") == get + post + chunked + get


@pytest.mark.parametrize(
    "head", [b"CONNECT a.test:443 HTTP/1.1\r\n\r\n", b"GET http://a/ HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"]
)
def test_a_tunnel_is_forwarded_unchanged(head: bytes) -> None:
    inside = b"GET / HTTP/1.1\r\n\r\n" * 3
    received = asyncio.run(sent_through(head + inside))
    assert received.count(HEADER) == 1
    assert received.endswith(inside)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200))
def test_the_relay_survives_garbage(data: bytes) -> None:
    assert asyncio.run(sent_through(data)).count(b"bWU6") <= data.count(b"\r\n\r\n")


async def _refused() -> None:
    async with Outside() as outside:
        relay = await ProxyRelay.start(ProxyUrl("http", "127.0.0.1", outside.port, "me", SECRET), lambda *_: False)
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writer.write(b"GET http://site.test/ HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        await relay.close()
        assert outside.received == []


def test_another_user_of_the_machine_is_refused() -> None:
    asyncio.run(_refused())


@pytest.mark.parametrize("mode", [HANGS, REFUSES])
def test_closing_the_relay_ends_its_connections(mode: str) -> None:
    async def close() -> None:
        async with RecordingProxy(9, mode, user="me", password="p") as proxy:
            relay = await ProxyRelay.start(ProxyUrl("http", "127.0.0.1", proxy.port, "me", "p"))
            reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            writer.write(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n")
            if mode == REFUSES:
                assert b"502" in await reader.readline()
            else:
                await until(lambda: bool(proxy.asked))
            await relay.close()
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
            writer.close()

    asyncio.run(asyncio.wait_for(close(), 30))


def test_a_system_that_does_not_name_the_user_of_a_connection_refuses_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proxy_relay, "can_check_users", lambda: False)
    with pytest.raises(EngineError, match=r"socks5://me:\*\*\*@127.0.0.1:9050 on this system") as raised:
        asyncio.run(relay_for(IdentitySettings(proxy="socks5://me:s3cret@127.0.0.1:9050")))
    assert "s3cret" not in str(raised.value)
    assert asyncio.run(relay_for(IdentitySettings(proxy="socks5://127.0.0.1:9050"))) is None
    assert asyncio.run(relay_for(IdentitySettings(proxy="direct"))) is None
