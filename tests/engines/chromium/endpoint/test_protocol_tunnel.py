from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.endpoint import protocol_tunnel
from hatbox.engines.chromium.endpoint.protocol_tunnel import ProtocolTunnels


class FakeSession:
    """A CDPSession: commands are stored, and answered when `released` is set."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.listeners: dict[str, Any] = {}
        self.released = asyncio.Event()
        self.released.set()
        self.fails = False
        self.sessions = 0

    def on(self, event: str, listener: Any) -> None:
        self.listeners[event] = listener

    async def new_browser_cdp_session(self) -> FakeSession:
        return self

    async def detach(self) -> None:
        self.sent.append(("detach", {}))

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.sent.append((method, params or {}))
        await self.released.wait()
        if self.fails:
            raise PlaywrightError("closed")
        if method == "Target.getTargetInfo":
            return {"targetInfo": {"targetId": "BROWSER"}}
        self.sessions += method == "Target.attachToTarget"
        return {"sessionId": f"S{self.sessions}"}


async def opened() -> tuple[FakeSession, ProtocolTunnels]:
    session = FakeSession()
    return session, await ProtocolTunnels.open(session)  # type: ignore[arg-type]


def test_messages_keep_their_order_and_reach_the_tunnel_of_their_session() -> None:
    async def use() -> None:
        session, tunnels = await opened()
        received: list[tuple[str, str]] = []
        first = await tunnels.connect(lambda text: received.append(("first", text)), lambda: None)
        await tunnels.connect(lambda text: received.append(("second", text)), lambda: None)
        assert session.sent[1] == ("Target.attachToTarget", {"targetId": "BROWSER", "flatten": False})
        session.sent.clear()
        for number in range(20):
            first.send(str(number))
        await asyncio.sleep(0)
        assert [params["message"] for _, params in session.sent] == [str(number) for number in range(20)]
        session.listeners["Target.receivedMessageFromTarget"]({"sessionId": "S2", "message": "a"})
        session.listeners["Target.receivedMessageFromTarget"]({"sessionId": "S9", "message": "b"})
        assert received == [("second", "a")]
        await tunnels.close()

    asyncio.run(use())


def test_a_flood_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_tunnel, "_MAX_UNSENT", 3)

    async def use() -> None:
        session, tunnels = await opened()
        tunnel = await tunnels.connect(lambda _: None, lambda: None)
        session.released.clear()
        for _ in range(5):
            tunnel.send("a")
        draining = asyncio.ensure_future(tunnel.drain())
        await asyncio.sleep(0)
        assert not draining.done()
        session.released.set()
        await draining

    asyncio.run(use())


@pytest.mark.parametrize("how", ["error", "detached", "disconnected"])
def test_a_tunnel_that_is_lost_is_reported_once(how: str) -> None:
    async def use() -> None:
        closed: list[str] = []
        session, tunnels = await opened()
        tunnel = await tunnels.connect(lambda _: None, lambda: closed.append("closed"))
        session.fails = how == "error"
        if how == "error":
            tunnel.send("a")
            tunnel.send("b")
        elif how == "detached":
            session.listeners["Target.detachedFromTarget"]({"sessionId": "S1"})
        else:
            session.listeners["disconnected"](None)
        await asyncio.sleep(0.01)
        assert closed == ["closed"]
        sent = len(session.sent)
        tunnel.send("c")
        tunnel.close()
        await asyncio.sleep(0)
        assert len(session.sent) == sent

    asyncio.run(use())
