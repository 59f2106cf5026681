"""What a runtime needs of whoever runs it, and what it tells of scripts. Only declarations live here."""

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
    """A listener that a script has added."""

    @property
    def path(self) -> str:
        """The event: `contextualIdentities.onCreated`."""

    def notify(self, *arguments: Any) -> None:
        """Call it, and do not wait."""

    def call(self, *arguments: Any, within: float | None = None) -> Awaitable[Any]:
        """Call it, at once; to be waited for is what it returns, or what the promise that it returns becomes.

        Raises ScriptError if it throws, TimeoutError, and ExtensionTerminated if the extension ends before.
        """


class LogEntry(NamedTuple):
    """A line of a script's console, or an error that it did not catch.

    `kind` is `console`, `error` (uncaught), `rejection` (unhandled), or `listener` (thrown by one).
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
    """A request that a script makes."""

    url: str
    method: str
    headers: Sequence[tuple[str, str]]
    redirect: str
    body: bytes | None


class FetchResponse(NamedTuple):
    """The answer to it."""

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
    """Whose script it is, for the server."""
    user_agent: str
    """What it runs in, for the server."""


class SocketClosed(NamedTuple):
    """How a WebSocket was closed. `why` is there if it has failed: a script sees only that; the log says why."""

    code: int
    reason: str
    clean: bool
    error: str | None = None


class Socket(Protocol):
    """A WebSocket that is open."""

    protocol: str
    """The subprotocol that the server has chosen; empty if none."""
    extensions: str
    """The extensions of the protocol that it has agreed to."""

    async def send(self, message: str | bytes) -> None:
        """Send a message, when there is room for it. On a connection that is closed it goes nowhere."""

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the connection was closed."""

    async def close(self, code: int | None, reason: str) -> None:
        """Say goodbye, and wait until the server has answered or has taken too long."""

    async def close_going_away(self) -> None:
        """Say goodbye for a script that has ended."""

    def abort(self, why: str) -> None:
        """Cut it off."""


class Host(Protocol):
    """Answers what a script asks. The script is not trusted: permissions and arguments are checked behind this."""

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """For calls that were made together, and in whose body nothing waits."""

    def call(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Begin a call. A HatboxError, raised or in the awaitable, is told to the script; no other error's text is."""

    def call_with_user_input(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Begin a call that the script makes while it is told, as it says, of something that the user does."""

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """A script has added a listener; `extra` are the further arguments of addListener."""

    def remove_listener(self, listener: Listener) -> None:
        """It has removed it, or has ended."""

    def read_file(self, path: str) -> bytes | None:
        """A file of the package, named by its path from the root without a leading slash; None if there is none."""

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Make a request; raises NetworkError where it is not allowed or fails."""

    async def connect(self, request: SocketRequest) -> Socket:
        """Open a WebSocket; raises NetworkError where it is not allowed or fails."""

    def change_local_storage(self, key: str | None, value: str | None) -> bool:
        """A script has set a value, removed it (None), or all (no key). False if that is not allowed."""

    def log(self, entry: LogEntry) -> None:
        """A script has said something, or failed."""
