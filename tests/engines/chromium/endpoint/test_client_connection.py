"""One connection without a browser and without a network: how it ends, and what a slow client costs."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from hatbox.engines.chromium.endpoint import client_connection
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization
from hatbox.engines.chromium.endpoint.client_connection import ClientConnection
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.endpoint.messages import CompileScript
from tests.engines.chromium.endpoint.filtered_client import WORK, info
from tests.waiting import until


class Lab:
    """A connection with a fake socket, a fake tunnel and a fake browser context."""

    def __init__(self) -> None:
        self.pages = EndpointPages()
        cookies = SimpleNamespace(reads=0)
        self.context = SimpleNamespace(context_id=WORK, ended=asyncio.Event(), cookies=cookies, has_windows=False)
        self.context.cookies.schedule_read = self._read
        self.authorization = TokenAuthorization()
        self.to_browser: list[dict[str, Any]] = []
        self.to_client: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.is_disconnected = False
        self.reads_slowly = False
        self.messages: asyncio.Queue[str | None] = asyncio.Queue()
        self.connection = ClientConnection(self, self.context, self.pages, self)  # type: ignore[arg-type]
        self.running = asyncio.ensure_future(self.connection.run(self, self.authorization))  # type: ignore[arg-type]

    async def start(self) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.receive({"id": self.to_browser[0]["id"], "result": {}})

    def receive(self, message: dict[str, Any]) -> None:
        self.on_message(json.dumps(message))

    # the tunnels and the tunnel

    async def connect(self, on_message: Any, on_closed: Any) -> Lab:
        self.on_message, self.on_closed = on_message, on_closed
        return self

    def disconnect(self, _: object) -> None:
        self.is_disconnected = True

    async def drain(self) -> None: ...

    # the socket; `send` is that of the tunnel too: text goes to the browser if it has an id of a command

    def send(self, text: str) -> Any:
        message = json.loads(text)
        if "method" in message and "id" in message:
            self.to_browser.append(message)
            return None
        return self._send_to_client(text)

    async def _send_to_client(self, text: str) -> None:
        if self.reads_slowly:
            await asyncio.Event().wait()
        self.to_client.append(text)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self.messages.get()) is not None:
            yield text

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    def _read(self) -> None:
        self.context.cookies.reads += 1


def use(test: Any) -> None:
    async def run() -> None:
        lab = Lab()
        await lab.start()
        await test(lab)
        async with asyncio.timeout(20):
            await lab.running
        assert lab.is_disconnected

    asyncio.run(run())


@pytest.mark.parametrize("how", ["authorization", "context", "browser"])
def test_the_socket_is_closed_when_its_right_or_its_identity_ends(how: str) -> None:
    async def test(lab: Lab) -> None:
        if how == "authorization":
            lab.authorization.end()
        elif how == "context":
            lab.context.ended.set()
        else:
            lab.on_closed()
        await lab.running
        assert lab.closed is not None
        assert lab.closed[0] == 1008
        sent = len(lab.to_browser)
        lab.receive({"method": "Target.targetCreated", "params": {"targetInfo": info("P")}})
        assert (len(lab.to_browser), lab.to_client) == (sent, [])

    use(test)


def test_a_client_that_closes_the_browser_gets_its_answer_first() -> None:
    async def test(lab: Lab) -> None:
        lab.messages.put_nowait('{"id": 1, "method": "Browser.close"}')
        await lab.running
        assert [json.loads(each) for each in lab.to_client] == [{"id": 1, "result": {}}]
        assert lab.closed == (1000, "closed by the client")

    use(test)


def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connection, "_MAX_UNREAD", 2000)

    async def test(lab: Lab) -> None:
        lab.reads_slowly = True
        for number in range(100):
            lab.messages.put_nowait(json.dumps({"id": number, "method": "Nothing.here"}))
        await lab.running
        assert lab.closed == (1008, "the client reads too slowly")

    use(test)


def test_a_script_that_cannot_be_compiled_ends_its_connection_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def test(lab: Lab) -> None:  # which has no compiler
        lab.connection._perform([CompileScript("1")])
        lab.messages.put_nowait('{"id": 1, "method": "Nothing.here"}')
        await lab.running
        assert lab.closed == (1008, "a script could not be compiled")

    use(test)
    assert "compiling a script" in caplog.text


def test_after_a_message_that_takes_long_other_work_gets_as_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=3)  # each message takes 3 seconds
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    async def test(lab: Lab) -> None:
        monkeypatch.setattr(client_connection, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
        monkeypatch.setattr(asyncio, "sleep", pause)
        lab.messages.put_nowait('{"id": 1, "method": "Nothing.here"}')
        lab.messages.put_nowait(None)
        await lab.running
        assert pauses == [3]

    use(test)


def test_a_message_that_the_filter_cannot_read_is_dropped_and_the_client_stays() -> None:
    async def test(lab: Lab) -> None:
        lab.on_message("{")
        lab.receive({"method": "Target.attachedToTarget", "params": {}})
        lab.messages.put_nowait('{"id": 1, "method": "Target.getBrowserContexts"}')
        lab.messages.put_nowait(None)
        await lab.running
        assert len(lab.to_client) == 1

    use(test)


def test_a_client_that_leaves_while_it_opens_a_page_leaves_nothing_pending() -> None:
    async def test(lab: Lab) -> None:
        lab.messages.put_nowait('{"id": 1, "method": "Target.createTarget", "params": {"url": "about:blank"}}')
        lab.messages.put_nowait(None)
        await lab.running
        async with asyncio.timeout(1):
            assert not await lab.pages.controls("P", None, WORK)

    use(test)


def test_changed_cookies_are_read() -> None:
    async def test(lab: Lab) -> None:
        lab.messages.put_nowait('{"id": 1, "method": "Storage.clearCookies"}')
        await until(lambda: len(lab.to_browser) == 2)
        lab.receive({"id": lab.to_browser[-1]["id"], "result": {}})
        assert lab.context.cookies.reads == 1
        lab.messages.put_nowait(None)

    use(test)
