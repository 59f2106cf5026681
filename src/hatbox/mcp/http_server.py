"""The MCP server over streamable HTTP, on 127.0.0.1, for clients with the token of the grant.

Each session of a client is an agent of its own. The protocol 2026-07-28 has no sessions: there, the path names the
agent, as in /mcp/agent1, and /mcp offers only protocols with sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import mcp.types as types
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from hatbox.loopback.http_protocol import protocol_class
from hatbox.loopback.in_process_server import ADDRESS, InProcessServer, listen
from hatbox.loopback.peer_user import UserCheck
from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.http_agents import HttpAgents
from hatbox.mcp.http_guard import MCP_PATH, HttpGuard, RequestRefused
from hatbox.mcp.http_sessions import HttpSessions
from hatbox.mcp.server import AgentServer, failed_call, sdk_server
from hatbox.mcp.tool_output import ToolFailed

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["AgentHttpServer", "HttpLimits", "ReadingClient"]

logger = logging.getLogger("hatbox.mcp")

_AGENT: Final = "hatbox.agent"
_MAX_HEAD: Final = 32 * 1024


class HttpLimits(NamedTuple):
    """What clients may use. Sizes are in bytes, times in seconds."""

    agents: int = 16
    """Sessions, and as many named agents. If there are more, the one that is idle longest ends."""
    connections: int = 64
    body: int = 4 << 20
    """One request of a client."""
    request_timeout: float = 20.0
    """The time for a whole request."""
    send_timeout: float = 30.0
    """The time in which a client has to read something, or its connection ends."""
    idle_timeout: float = 1800.0
    """After this time without a request, an agent ends, and its pages are closed."""


class AgentHttpServer:
    """Serves the agents of one session, for `async with`. Port 0 is any free port. Raises OSError for a used one."""

    def __init__(
        self,
        session: AgentSession,
        version: str,
        *,
        port: int = 0,
        limits: HttpLimits | None = None,
        user_check: UserCheck | None = None,
    ) -> None:
        self._session = session
        self._limits = limits or HttpLimits()
        self._user_check = user_check
        self.port = port
        """The port, once it is started."""
        self._agents = HttpAgents(
            session, version, limit=2 * self._limits.agents, idle_timeout=self._limits.idle_timeout
        )
        self._tools = AgentServer(session, version)
        server = sdk_server(session, version, self._tools.list_tools, self._call_tool)
        server.add_request_handler("server/discover", types.RequestParams, self._discover)
        self._server = server
        self._manager = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=self._limits.idle_timeout,
            max_request_body_size=self._limits.body,
            max_sessions=self._limits.agents,
        )
        self._sessions = HttpSessions(
            self._manager.handle_request,
            self._agents,
            limit=self._limits.agents,
            idle_timeout=self._limits.idle_timeout,
        )
        self._http: InProcessServer | None = None
        self._stack = contextlib.AsyncExitStack()

    @property
    def url(self) -> str:
        """The URL for clients. It contains no secret."""
        return f"http://{ADDRESS}:{self.port}{MCP_PATH}"

    async def __aenter__(self) -> Self:
        listener = listen(self.port)
        try:
            self.port = listener.getsockname()[1]
            self._guard = HttpGuard(self.port, self._session.token)
            config = uvicorn.Config(
                self._serve,
                http=protocol_class(
                    "MCP server",
                    max_connections=self._limits.connections,
                    request_timeout=self._limits.request_timeout,
                    user_check=self._user_check,
                ),
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                h11_max_incomplete_event_size=_MAX_HEAD,
                timeout_graceful_shutdown=1,
            )
            await self._stack.enter_async_context(self._manager.run())
            self._http = InProcessServer(config)
            await self._http.start(listener)
        except BaseException:
            listener.close()
            await self._stack.aclose()
            raise
        self._idle = asyncio.ensure_future(self._close_idle())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._idle.cancel()
        if self._http is not None:
            self._http.abort_connections()
            await self._http.stop()
        await self._stack.aclose()
        await self._agents.close()

    # ── Requests ──

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        try:
            self._session.grant()
            request = self._guard.check(scope["path"], scope["headers"])
        except RequestRefused as refused:
            await _refuse(send, refused.status, str(refused))
            return
        except ToolFailed:
            await _refuse(send, 401, "the grant has ended")
            return
        scope[_AGENT] = request.agent
        client = ReadingClient(send, self._limits.send_timeout)
        try:
            with self._agents.use(request.agent):
                await self._sessions.serve(scope, receive, client.send, request.session_id)
        except Exception:
            if not client.is_lost:
                logger.exception("MCP server: a request failed")
        if scope["method"] == "DELETE":
            self._agents.end(request.agent)

    async def _call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        key = _agent_of(context)
        with self._agents.use(key):  # the client may have closed the connection of the request
            try:
                agent = await self._agents.get(key)
            except ToolFailed as error:
                return failed_call(str(error))
            return await agent.call_tool(context, params)

    async def _discover(self, context: Any, _params: Any) -> types.DiscoverResult:
        """Offer the protocol without sessions only to a client whose URL names the agent."""
        versions = MODERN_PROTOCOL_VERSIONS if _agent_of(context) else HANDSHAKE_PROTOCOL_VERSIONS
        return types.DiscoverResult(
            supported_versions=list(versions),
            capabilities=self._server.get_capabilities(protocol_version=context.protocol_version),
            instructions=self._server.instructions,
        )

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._limits.idle_timeout, 60.0) / 2)
            self._agents.close_idle()
            self._sessions.forget_old()


class ReadingClient:
    """Sends a response to a client, as long as it reads."""

    def __init__(self, send: Send, timeout: float) -> None:
        self._send = send
        self._timeout = timeout
        self.is_lost = False

    async def send(self, message: Message) -> None:
        """Send a part of the response. Raises TimeoutError."""
        try:
            async with asyncio.timeout(self._timeout):
                await self._send(message)
        except (TimeoutError, OSError):
            self.is_lost = True
            raise


def _agent_of(context: Any) -> str:
    scope = getattr(context.request, "scope", None) or {}
    return str(scope.get(_AGENT, ""))


async def _refuse(send: Send, status: int, message: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": message.encode()})
