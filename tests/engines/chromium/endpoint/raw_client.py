"""A client of an endpoint without a library: sends any command, and stores every message that it receives."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from playwright.async_api import Page
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.waiting import until


async def target_of(page: Page) -> str:
    """The target id of a page of the engine."""
    session = await page.context.new_cdp_session(page)
    info = await session.send("Target.getTargetInfo")
    await session.detach()
    return str(info["targetInfo"]["targetId"])


class RawClient:
    """Connected inside `async with`."""

    def __init__(self, url: str, **options: Any) -> None:
        self.received: list[str] = []
        """Every message."""
        self.replies: dict[int, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.closed = asyncio.Event()
        self._url = url
        self._options = options
        self._ids = itertools.count(1)

    async def __aenter__(self) -> Self:
        self.socket: ClientConnection = await connect(self._url, max_size=None, ping_interval=None, **self._options)
        self._reading = asyncio.ensure_future(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.socket.close()
        await self._reading

    async def start(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> int:
        """Send a command; returns its id."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params or {}}
        await self.socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        return number

    async def call(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """The reply to a command."""
        number = await self.start(method, params, session)
        await until(lambda: number in self.replies or self.closed.is_set())
        return self.replies[number]

    async def result(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """The result of a command that succeeds."""
        reply = await self.call(method, params, session)
        assert "result" in reply, reply
        return dict(reply["result"])

    async def event(self, method: str, matches: Callable[[dict[str, Any]], object] = lambda _: True) -> dict[str, Any]:
        """The first event of this name that matches, of those received so far and later."""

        def find() -> dict[str, Any] | None:
            return next((each for each in self.events if each["method"] == method and matches(each["params"])), None)

        await until(find)
        found = find()
        assert found is not None
        return dict(found["params"])

    async def open_page(self, url: str) -> tuple[str, str]:
        """Open a page; its target id and session."""
        target_id = (await self.result("Target.createTarget", {"url": url}))["targetId"]
        attached = await self.result("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        return target_id, attached["sessionId"]

    async def evaluate(self, expression: str, session: str) -> Any:
        """The value of an expression."""
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return (await self.result("Runtime.evaluate", params, session))["result"].get("value")

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                assert isinstance(text, str)
                self.received.append(text)
                message = json.loads(text)
                if "id" in message:
                    self.replies[message["id"]] = message
                else:
                    self.events.append(message)
        except ConnectionClosed:
            pass
        self.closed.set()
