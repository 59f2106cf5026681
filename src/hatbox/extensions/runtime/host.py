"""The interface between the bridge and its host. Contains only declarations."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

__all__ = [
    "FetchRequest",
    "FetchResponse",
    "Host",
    "Listener",
    "LogEntry",
    "Socket",
    "SocketClosed",
    "SocketRequest",
]


class Listener(Protocol):
    """An event listener of a script."""

    @property
    def path(self) -> str:
        """The event, such as `contextualIdentities.onCreated`."""

    def notify(self, *arguments: Any) -> None:
        """Call the listener without waiting for it."""

    def call(self, *arguments: Any, timeout: float | None = None) -> Awaitable[Any]:
        """Call the listener now. The result is its return value, or the value of the promise that it returns.

        Raises ScriptError if it throws, TimeoutError, and ExtensionTerminated if the extension ends first.
        """


class LogEntry(NamedTuple):
    """A console message or an uncaught error of a script.

    `kind` is `console`, `error` (uncaught), `rejection` (unhandled), or `listener` (thrown by a listener).
    """

    kind: str
    level: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    stack: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.file}:{self.line}:{self.column})" if self.file else self.text


class FetchRequest(NamedTuple):
    """A fetch() of a script."""

    url: str
    method: str
    headers: Sequence[tuple[str, str]]
    redirect: str
    body: bytes | None


class FetchResponse(NamedTuple):
    """The response to a FetchRequest."""

    url: str
    status: int
    status_text: str
    headers: Sequence[tuple[str, str]]
    redirected: bool
    body: bytes


class SocketRequest(NamedTuple):
    """A WebSocket that a script opens."""

    url: str
    protocols: Sequence[str]
    origin: str
    """The Origin header."""
    user_agent: str
    """The User-Agent header."""


class SocketClosed(NamedTuple):
    """How a WebSocket was closed. `error` is set if it failed; it is logged, and scripts do not see it."""

    code: int
    reason: str
    clean: bool
    error: str | None = None


class Socket(Protocol):
    """An open WebSocket."""

    protocol: str
    """The subprotocol that the server selected; empty without one."""
    extensions: str
    """The negotiated extensions of the protocol."""

    async def send(self, message: str | bytes) -> None:
        """Send a message when the buffer has room. Does nothing on a closed connection."""

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the connection was closed."""

    async def close(self, code: int | None, reason: str) -> None:
        """Start the closing handshake, and wait for the server or the timeout."""

    async def close_going_away(self) -> None:
        """Close with code 1001 (going away): the script has ended."""

    def abort(self, error: str) -> None:
        """Close the connection without a closing handshake."""


class Host(Protocol):
    """Serves the requests of scripts. They are not trusted: the host checks permissions and arguments."""

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """Run the calls in the body, which must not await, on one snapshot of the profile."""

    def call(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Start a call. Scripts receive the message of an ApiError or NetworkError, and of no other error."""

    def call_with_user_input(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Start a call that, according to the script, a user input handler makes."""

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener of a script; `extra` are the further arguments of addListener."""

    def remove_listener(self, listener: Listener) -> None:
        """Remove a listener of a script."""

    def read_file(self, path: str) -> bytes | None:
        """Read a file of the package by its path without a leading slash. Returns None if it does not exist."""

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Make a request. Raises NetworkError if it is not permitted or fails."""

    async def connect(self, request: SocketRequest) -> Socket:
        """Open a WebSocket. Raises NetworkError if it is not permitted or fails."""

    def change_local_storage(self, key: str | None, value: str | None) -> bool:
        """Set a value, remove it (None), or clear all (no key). Returns False if the quota is exceeded."""

    def use_indexed_db(self, operation: str, fields: list[Any]) -> Awaitable[Any]:
        """Read or change databases of IndexedDB. Raises ProtocolError for invalid fields.

        Scripts receive the message of an ApiError, which is the name of an exception.
        """

    def log(self, entry: LogEntry) -> None:
        """Log a console message or an uncaught error."""
