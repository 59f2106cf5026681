"""Passes HTTP requests to the session manager of the SDK. If it is full, the session that is idle longest ends.

Clients that are killed, or that send no DELETE, leave sessions behind. Without this, they would block new clients
until their idle timeout.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from hatbox.mcp.http_agents import HttpAgents
from hatbox.mcp.http_guard import MCP_PATH, AgentRequest

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HttpSessions"]

_SESSION: Final = b"mcp-session-id"


class HttpSessions:
    """The sessions of a server, in the order of their last requests."""

    def __init__(self, manager: ASGIApp, agents: HttpAgents, *, limit: int, idle_timeout: float) -> None:
        self._manager = manager
        self._agents = agents
        self._limit = limit
        self._idle_timeout = idle_timeout
        self._last_used: dict[str, float] = {}

    async def serve(self, scope: Scope, receive: Receive, send: Send, session_id: str) -> None:
        """Answer a request. `session_id` is the session that it names, empty if it names none."""
        opening = _Opening(receive) if scope["method"] == "POST" and not session_id else None
        answer = _Answer(send, withholds_full=opening is not None)
        try:
            await self._manager(scope, receive if opening is None else opening.receive, answer.send)
            while opening is not None and answer.is_full:
                if not opening.is_initialize or not await self._end_idle():
                    await self._refuse(send)
                    return
                opening.rewind()
                answer = _Answer(send, withholds_full=True)
                await self._manager(scope, opening.receive, answer.send)
        finally:
            self._record(scope["method"], session_id or answer.session_id, answer.status)

    def forget_old(self) -> None:
        """Forget the sessions that the manager has ended: those without a request for the idle timeout."""
        oldest = asyncio.get_running_loop().time() - self._idle_timeout
        for session_id, last_used in list(self._last_used.items()):
            if last_used < oldest and not self._agents.is_running(_agent(session_id)):
                del self._last_used[session_id]

    def _record(self, method: str, session_id: str, status: int) -> None:
        self._last_used.pop(session_id, None)
        if session_id and method != "DELETE" and status < 400:
            self._last_used[session_id] = asyncio.get_running_loop().time()

    async def _end_idle(self) -> bool:
        """End the session that is idle longest. Whether one has ended."""
        for session_id in list(self._last_used):
            agent = _agent(session_id)
            if self._agents.is_running(agent) or self._last_used.pop(session_id, None) is None:
                continue
            answer = _Answer(_discard)
            await self._manager(_deletion(session_id), _empty_body, answer.send)
            self._agents.end(agent)
            if answer.status < 400:
                return True
        return False

    async def _refuse(self, send: Send) -> None:
        message = f"{self._limit} agents are connected, and all are in use. Stop one of them, or try again later."
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": message}}
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


class _Opening:
    """The body of a request that opens a session. It can be read again."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._body: list[Message] = []
        self._position = 0

    @property
    def is_initialize(self) -> bool:
        """Whether the request can open a session. Other requests end no session of another client."""
        return b'"initialize"' in b"".join(each.get("body", b"") for each in self._body)

    def rewind(self) -> None:
        """Receive the body again."""
        self._position = 0

    async def receive(self) -> Message:
        """The next part of the body, or what the client does after it."""
        if self._position == len(self._body):
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            self._body.append(message)
        self._position += 1
        return self._body[self._position - 1]


class _Answer:
    """Sends an answer and records its status. The one that says that no session is left can be withheld."""

    def __init__(self, send: Send, *, withholds_full: bool = False) -> None:
        self._send = send
        self._withholds_full = withholds_full
        self.status = 500
        self.session_id = ""

    @property
    def is_full(self) -> bool:
        return self.status == 503

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session_id = dict(message["headers"]).get(_SESSION, b"").decode("latin-1")
        if not (self._withholds_full and self.is_full):
            await self._send(message)


def _agent(session_id: str) -> str:
    return AgentRequest("", session_id).agent


def _deletion(session_id: str) -> Scope:
    return {
        "type": "http",
        "method": "DELETE",
        "path": MCP_PATH,
        "query_string": b"",
        "headers": [(_SESSION, session_id.encode("latin-1"))],
    }


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_: Message) -> None:
    pass
