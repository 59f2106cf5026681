"""Routes the Runtime events of one CDP session to connections, by execution context.

The sender of a text is the context that Chromium reports, never what the text says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.extensions.pages.cdp_connection import CdpConnection
from hatbox.extensions.runtime.exit_reason import Exit

__all__ = ["ContextEvents", "ExecutionContext", "ExecutionContexts"]


class ContextEvents(Protocol):
    """The events of a CDP session, such as Playwright's CDPSession."""

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> Any:
        """Call the listener for each event of this name."""


class ExecutionContext(NamedTuple):
    """A world of a document, as Chromium describes it."""

    number: int
    """The executionContextId of events. Other processes use the same numbers."""
    unique_id: str
    """The uniqueId, for commands."""
    origin: str
    world: str
    """The name of an isolated world; empty for the main world."""
    frame_id: str
    is_main_world: bool


class ExecutionContexts:
    """The connections of one session. Create it before Runtime.enable is sent.

    `accept` is called for each new context, and returns its connection, or None. Its runtime must exist by then.
    `on_other_binding` is called for the bindings of others: Playwright's work for a second listener delays each call.
    """

    def __init__(
        self,
        events: ContextEvents,
        binding: str,
        accept: Callable[[ExecutionContext], CdpConnection | None],
        on_other_binding: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        self._binding = binding
        self._on_other_binding = on_other_binding
        self._accept = accept
        self._connections: dict[int, CdpConnection] = {}
        listeners: dict[str, Callable[[dict[str, Any]], None]] = {
            "Runtime.executionContextCreated": self._on_created,
            "Runtime.executionContextDestroyed": self._on_destroyed,
            "Runtime.executionContextsCleared": lambda _: self.close(Exit("exited", "the document was closed")),
            "Runtime.bindingCalled": self._on_binding_called,
            "Inspector.targetCrashed": lambda _: self.close(Exit("crashed: the renderer process has ended")),
        }
        for name, listener in listeners.items():
            events.on(name, log_exceptions(listener))

    def connection(self, number: int) -> CdpConnection | None:
        """The connection of a context, by the executionContextId of an event."""
        return self._connections.get(number)

    def close(self, reason: Exit) -> None:
        """Close all connections: the session or its target has ended."""
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            connection.closed(reason)

    def _on_created(self, event: dict[str, Any]) -> None:
        described = event["context"]
        details = described.get("auxData", {})
        context = ExecutionContext(
            described["id"],
            described["uniqueId"],
            described["origin"],
            described["name"],
            details.get("frameId", ""),
            details.get("isDefault", False),
        )
        connection = self._accept(context)
        if connection is not None:
            self._connections[context.number] = connection

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        connection = self._connections.pop(event["executionContextId"], None)
        if connection is not None:
            connection.closed(Exit("exited", "the document was closed"))

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        if event["name"] != self._binding:
            self._on_other_binding(event)
        elif (connection := self._connections.get(event["executionContextId"])) is not None:
            connection.binding_called(event["payload"])
