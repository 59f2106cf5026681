"""What the filter of one client knows: sessions, targets, and commands without a response. Pure: performs no I/O."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.engines.chromium.endpoint.client_activity import ClientActivity
from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.client_sessions import ClientSession, ClientSessions
from hatbox.engines.chromium.endpoint.client_targets import ClientTargets
from hatbox.engines.chromium.endpoint.manager_page_secrets import without_manager_paths
from hatbox.engines.chromium.endpoint.messages import (
    ClientMessage,
    CompileScript,
    MethodRefused,
    Output,
    ToBrowser,
    ToClient,
    encode_message,
    error_message,
    session_not_found,
)
from hatbox.engines.chromium.endpoint.remote_objects import GIVES_OBJECTS

__all__ = [
    "MAX_PENDING",
    "ClientState",
    "OnCompiled",
    "OnResponse",
    "OnResult",
    "OwnCommand",
    "PendingCommand",
]

MAX_PENDING: Final = 10_000
"""The commands of a client that Chromium has not answered."""

OnResult = Callable[[dict[str, Any]], dict[str, Any]]
"""Checks a result, and returns what the client gets. Raises MethodRefused."""
OnResponse = Callable[[dict[str, Any] | None], None]
"""Gets the result of a command of the endpoint, or None if it failed."""


OnCompiled = Callable[[dict[str, Any] | None], None]
"""Gets None, or the exceptionDetails of a script with a syntax error."""


class PendingCommand(NamedTuple):
    """A command of the client that Chromium has not answered."""

    id: int
    """The id that the client has given it. Chromium receives another one."""
    session_id: str
    on_result: OnResult | None
    outputs: tuple[Output, ...]
    """What happens with the response, also if it is an error."""
    gives_objects: bool = False


class OwnCommand(NamedTuple):
    """A command of the endpoint that Chromium has not answered."""

    session_id: str
    on_response: OnResponse


class ClientState:
    """The state of one client. `page_id`: the connection is a session of this page, as DevTools needs it."""

    def __init__(
        self, context_id: str, page_id: str = "", *, has_windows: bool = False, files: ClientFiles | None = None
    ) -> None:
        self.files = files or ClientFiles()
        self.targets = ClientTargets(context_id)
        self.sessions = ClientSessions()
        self.activity = ClientActivity()
        self.page_id = page_id
        self.has_windows = has_windows
        """Whether a person may be typing in the browser: the client gives the focus to none of its pages."""
        self.page_session = ""
        """The session of Chromium behind the connection, if the connection is one of a page."""
        self.own_worlds: set[str] = set()
        """The names of the isolated worlds that the client has created."""
        self.windows: set[int] = set()
        """The ids of windows that the client was given."""
        self.streams: set[tuple[str, Any]] = set()
        """The streams that the client was given: target and handle."""
        self.withheld: dict[str, str] = {}
        """Withheld targets that the client was attached to, and in which session."""
        self.tabs: dict[str, str] = {}
        """The tabs of withheld pages: both are targets."""
        self.browser_attaches = 0
        """How often the client has requested another session of the browser that is not attached yet."""
        self.outputs: list[Output] = []
        """What the message that is being filtered leads to."""
        self.pending: dict[int, PendingCommand] = {}
        self.own_pending: dict[int, OwnCommand] = {}
        self.on_compiled: OnCompiled | None = None
        """What happens with the script that is being compiled. Other commands wait."""
        self._numbers = itertools.count(1)
        if not page_id:
            self.sessions[""] = ClientSession("", "root")

    def is_page(self, target_id: str) -> bool:
        """Whether a target is a page that the client may use. A worker never is."""
        return self.targets.type_of(target_id) == "page" and self.targets.is_visible(target_id)

    def expect_capacity(self, number: int = 1) -> None:
        """Raise MethodRefused if too many commands have no response for so many more."""
        if len(self.pending) + len(self.own_pending) + number > MAX_PENDING:
            raise MethodRefused(f"{MAX_PENDING} commands have no response yet. Wait for responses.")

    def forward(
        self,
        command: ClientMessage,
        params: dict[str, Any] | None = None,
        on_result: OnResult | None = None,
        then: tuple[Output, ...] = (),
    ) -> None:
        """Send a command of the client to Chromium, with these arguments or its own."""
        gives_objects = command.method in GIVES_OBJECTS
        number = self.expect(PendingCommand(command.id, command.sessionId, on_result, then, gives_objects))
        sent = command.params if params is None else params
        session_id = command.sessionId or self.page_session
        self._send(number, command.method, sent, session_id)

    def expect(self, command: PendingCommand) -> int:
        """Add a command without a response. Returns its number, which no other command of the connection has."""
        number = next(self._numbers)
        self.pending[number] = command
        return number

    def compile(self, source: str, on_compiled: OnCompiled) -> None:
        """Compile a script of the client, without running it."""
        self.on_compiled = on_compiled
        self.outputs.append(CompileScript(source))

    def answer(self, command: ClientMessage, result: dict[str, Any]) -> None:
        """Answer a command of the client."""
        self.deliver(encode_message(id=command.id, result=result, sessionId=command.sessionId))

    def command(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        session_id: str = "",
        on_response: OnResponse | None = None,
    ) -> None:
        """Send a command of the endpoint."""
        number = next(self._numbers)
        if on_response is not None:
            self.own_pending[number] = OwnCommand(session_id, on_response)
        self._send(number, method, params or {}, session_id)

    def _send(self, number: int, method: str, params: dict[str, Any] | msgspec.Raw, session_id: str) -> None:
        self.outputs.append(ToBrowser(encode_message(id=number, method=method, params=params, sessionId=session_id)))

    def emit(self, session_id: str, method: str, params: dict[str, Any] | msgspec.Raw) -> None:
        """Send an event to the client."""
        shown = "" if session_id == self.page_session else session_id
        self.deliver(encode_message(method=method, params=params, sessionId=shown))

    def deliver(self, text: str) -> None:
        """Send a message to the client, without the paths of the manager page."""
        self.outputs.append(ToClient(without_manager_paths(text)))

    def end_session(self, session_id: str) -> None:
        """Remove a session with those in it. Chromium does not answer their commands any more."""
        ended = self.sessions.remove(session_id)
        for number in [number for number, each in self.pending.items() if each.session_id in ended]:
            command = self.pending.pop(number)
            self.outputs += [error_message(command.id, command.session_id, session_not_found()), *command.outputs]
        for number in [number for number, each in self.own_pending.items() if each.session_id in ended]:
            self.own_pending.pop(number).on_response(None)

    def take_outputs(self) -> list[Output]:
        """The outputs so far, in their order."""
        taken, self.outputs = self.outputs, []
        return taken
