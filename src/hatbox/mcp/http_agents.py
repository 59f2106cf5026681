"""The agents of an HTTP server: each has its own pages. Those that send no request for a time lose them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from hatbox.tasks import Tasks

__all__ = ["HttpAgents"]


class _Agent:
    """An agent, its running requests, and when the last one has ended."""

    def __init__(self, server: AgentServer, session: AgentSession) -> None:
        self.server = server
        self.session = session
        self.last_used = asyncio.get_running_loop().time()


class HttpAgents:
    """The agents that are connected, by the key of AgentRequest."""

    def __init__(self, root: AgentSession, version: str, *, limit: int, idle_timeout: float) -> None:
        self._root = root
        self._version = version
        self._limit = limit
        self._idle_timeout = idle_timeout
        self._agents: dict[str, _Agent] = {}
        self._running: dict[str, int] = {}
        self._tasks = Tasks()

    @contextlib.contextmanager
    def use(self, key: str) -> Iterator[None]:
        """A request of an agent is running: it is not idle."""
        self._running[key] = self._running.get(key, 0) + 1
        try:
            yield
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
            if (agent := self._agents.get(key)) is not None:
                agent.last_used = asyncio.get_running_loop().time()

    def is_running(self, key: str) -> bool:
        """Whether a request or a tool of an agent is running."""
        return key in self._running

    async def get(self, key: str) -> AgentServer:
        """The server of an agent, created by its first call. Raises ToolFailed."""
        if not key:
            raise ToolFailed(
                "this client uses no session, so its tabs cannot be distinguished from those of other agents. Let "
                "the user add a name to the URL of the server, such as /mcp/agent1."
            )
        if (known := self._agents.get(key)) is not None:
            return known.server
        self.close_idle()
        if len(self._agents) >= self._limit and not self._end_longest_idle():
            raise ToolRefused(
                f"{self._limit} agents are connected, and all are in use. Ask the user to stop one, or try again later."
            )
        session = self._root.sibling()
        agent = self._agents[key] = _Agent(AgentServer(session, self._version), session)
        await session.__aenter__()
        return agent.server

    def end(self, key: str) -> None:
        """An agent has left: close its pages."""
        if (agent := self._agents.pop(key, None)) is not None:
            self._tasks.spawn(agent.session.close())

    def close_idle(self) -> None:
        """End the agents that have sent no request for a time."""
        oldest = asyncio.get_running_loop().time() - self._idle_timeout
        for key, agent in list(self._agents.items()):
            if key not in self._running and agent.last_used < oldest:
                self.end(key)

    def _end_longest_idle(self) -> bool:
        idle = [key for key in self._agents if not self.is_running(key)]
        if idle:
            self.end(min(idle, key=lambda key: self._agents[key].last_used))
        return bool(idle)

    async def close(self) -> None:
        """End all agents."""
        for key in list(self._agents):
            self.end(key)
        await self._tasks.wait()
