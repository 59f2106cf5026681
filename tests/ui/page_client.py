"""A page without a browser: opens a link, and speaks the protocol of page_session.js and api.js."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.waiting import until

__all__ = ["Opened", "PageClient", "hello", "key_in", "open_link"]

Opened = tuple[str, str, str]
"""The address of the page, its Cookie header, and what its tab has in sessionStorage."""


async def open_link(link: str, headers: Mapping[str, str] | None = None) -> Opened:
    """Open a link as a browser does. Raises httpx.HTTPStatusError."""
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.get(link, headers=headers)
    response.raise_for_status()
    cookie, *attributes = response.headers["set-cookie"].split("; ")
    path = next(each.removeprefix("Path=") for each in attributes if each.startswith("Path="))
    return str(httpx.URL(link).join(path)), cookie, key_in(response.text)


def key_in(document: str) -> str:
    """What the document of a link stores in sessionStorage."""
    found = re.search(r'sessionStorage\.setItem\("hatbox\.key", "([^"]+)"\)', document)
    assert found is not None
    return found[1]


def hello(key: str, session: str = "0123456789abcdef", received: int = 0, calls: int = 0) -> str:
    """The first text of a page."""
    return json.dumps({"session": session, "received": received, "calls": calls, "key": key})


class PageClient:
    """A page with calls and events. It reconnects until it is closed."""

    def __init__(self, opened: Opened) -> None:
        self.url, self.cookie, self.key = opened
        self.session = str(uuid4())
        self.secret = ""
        self.welcomes: list[bool] = []
        """For each connection: whether the session was resumed."""
        self.events: list[tuple[int, Any]] = []
        """Received events: the id of the listener, the arguments."""
        self.on_text: Callable[[str], None] = lambda _: None
        """Called with each text of the server, before it is handled."""
        self._calls: dict[int, tuple[list[Any], asyncio.Future[Any]]] = {}
        self._listeners: dict[int, list[Any]] = {}
        self._frames: list[tuple[int, list[Any]]] = []
        self._sent = self._received = self._transmitted = self._last_call = 0
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> PageClient:
        self._task = asyncio.create_task(self._run())
        await until(lambda: self.welcomes)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def call(self, path: str, *arguments: Any) -> asyncio.Future[Any]:
        """Call a function, now or when the server is back."""
        self._last_call += 1
        message = ["c", self._last_call, path, list(arguments)]
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[self._last_call] = message, result
        self._send(message)
        return result

    def listen(self, path: str) -> int:
        """Add a listener; returns its id."""
        number = len(self._listeners) + 1
        self._listeners[number] = ["l", path, number, True, []]
        self._send(self._listeners[number])
        return number

    @property
    def is_acknowledged(self) -> bool:
        """Whether the server has received all calls and listeners."""
        return self._socket is not None and not self._frames

    @property
    def is_connected(self) -> bool:
        """Whether it has a connection."""
        return self._socket is not None

    def disconnect(self) -> None:
        """Lose the connection, with all that was not read."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def send_text(self, text: str) -> None:
        """Send a text of any kind."""
        assert self._socket is not None
        await self._socket.send(text)

    def _send(self, message: list[Any]) -> None:
        self._sent += 1
        self._frames.append((self._sent, [message]))
        if self._socket is not None:
            self._transmit(self._socket, *self._frames[-1])

    def _transmit(self, socket: ClientConnection, number: int, messages: list[Any]) -> None:
        self._transmitted = max([self._transmitted, *(each[1] for each in messages if each[0] == "c")])
        text = json.dumps([number, self._received, messages])
        socket.protocol.send_text(text.encode())
        for data in socket.protocol.data_to_send():
            if not socket.transport.is_closing():
                socket.transport.write(data)

    async def open_with(self, answer: str) -> None:
        """Answer a challenge with a text, and wait until the connection is closed. Raises ConnectionClosed."""
        async with self._connect() as socket:
            await socket.send(hello(self.key, self.session))
            assert "challenge" in json.loads(await socket.recv())
            await socket.send(json.dumps({"answer": answer}))
            await socket.recv()

    def _connect(self) -> connect:
        url = self.url.replace("http", "ws", 1) + "bridge"
        headers = {"Cookie": self.cookie, "Origin": self.url[: self.url.index("/", 8)]}
        return connect(url, additional_headers=headers, max_size=None, proxy=None)

    async def _run(self) -> None:
        while True:
            try:
                async with self._connect() as socket:
                    await self._serve(socket)
            except (OSError, InvalidHandshake, ConnectionClosed):
                await asyncio.sleep(0.02)
            finally:
                self._socket = None

    async def _serve(self, socket: ClientConnection) -> None:
        await socket.send(hello(self.key, self.session, self._received, self._transmitted))
        welcome = json.loads(await socket.recv())
        if challenge := welcome.get("challenge"):
            answer = hmac.new(self.secret.encode(), challenge.encode(), hashlib.sha256).hexdigest()
            await socket.send(json.dumps({"answer": answer}))
            welcome = json.loads(await socket.recv())
        self.secret, self.key = welcome["secret"], welcome["key"]
        if welcome["resumed"]:
            self._frames = [each for each in self._frames if each[0] > welcome["received"]]
        else:
            self._sent, self._received = 1, 0
            self._frames = [(1, [*self._listeners.values(), *(message for message, _ in self._calls.values())])]
        self._socket = socket
        for frame in self._frames:
            self._transmit(socket, *frame)
        self.welcomes.append(welcome["resumed"])
        async for text in socket:
            assert isinstance(text, str)
            self.on_text(text)
            self._handle(*json.loads(text))

    def _handle(self, number: int, acknowledged: int, messages: list[Any]) -> None:
        self._frames = [each for each in self._frames if each[0] > acknowledged]
        if number != self._received + 1:
            return
        self._received = number
        for kind, first, *fields in messages:
            if kind == "r":
                self._settle(first, *fields)
            elif kind == "e":
                self.events.append((fields[0], fields[1]))

    def _settle(self, number: int, ok: bool, value: Any, *_kind: str) -> None:
        _, result = self._calls.pop(number)
        if result.done():
            return
        if ok:
            result.set_result(value)
        else:
            result.set_exception(RuntimeError(value))
