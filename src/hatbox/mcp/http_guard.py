"""Decides which HTTP requests reach the MCP server. Pure: knows headers and paths, and no server.

A web page can make a browser send requests to loopback: with its own Origin, or through a name that it has rebound to
127.0.0.1, with its own Host.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["MCP_PATH", "AgentRequest", "HttpGuard", "RequestRefused"]

MCP_PATH: Final = "/mcp"
"""The path of the server. A name may follow, for agents that use no sessions."""

_PATH: Final = re.compile(rf"{MCP_PATH}(?:/([A-Za-z0-9._-]{{1,64}}))?/?", re.ASCII)
_BEARER: Final = re.compile(rb"bearer +(\S+)", re.IGNORECASE)
_SESSION: Final = b"mcp-session-id"

Headers = Sequence[tuple[bytes, bytes]]


class RequestRefused(Exception):
    """The request gets this status, and nothing else."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AgentRequest(msgspec.Struct, frozen=True):
    """A request that may reach the server."""

    name: str
    """The name of the agent in the path; empty without one."""
    session_id: str
    """The session that the client names; empty without one."""

    @property
    def agent(self) -> str:
        """The key of the agent: requests with the same key use the same tabs. Empty if the client names none."""
        if self.session_id:
            return f"session {self.session_id}"
        return f"name {self.name}" if self.name else ""


class HttpGuard:
    """The checks of one server, on a port of 127.0.0.1."""

    def __init__(self, port: int, token: str) -> None:
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._digest = _digest(token.encode())

    def check(self, path: str, headers: Headers) -> AgentRequest:
        """The request, if it comes from a client with the token. Raises RequestRefused: before the body is read."""
        host = _only(headers, b"host").lower()
        if host not in self._hosts:
            raise RequestRefused(421, "Host must be that of the URL which hatbox mcp has printed")
        origins = _values(headers, b"origin")
        if origins and origins != [b"http://" + host]:
            raise RequestRefused(403, "web pages cannot use this server")
        found = _BEARER.fullmatch(_only(headers, b"authorization"))
        if not hmac.compare_digest(_digest(found[1] if found else b""), self._digest):
            raise RequestRefused(401, "send the token that hatbox mcp has printed: Authorization: Bearer TOKEN")
        matched = _PATH.fullmatch(path)
        if matched is None:
            raise RequestRefused(404, f"the server is at {MCP_PATH}")
        return AgentRequest(matched[1] or "", _only(headers, _SESSION).decode("latin-1")[:100])


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _values(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _only(headers: Headers, name: bytes) -> bytes:
    """The value of a header that occurs once; empty otherwise."""
    values = _values(headers, name)
    return values[0].strip() if len(values) == 1 else b""
