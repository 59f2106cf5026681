"""Protocols for type checkers that the generated types of `browser` share: events and ports."""

# ruff: noqa: N802, N815 - the API's own spelling

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

__all__ = ["Listener", "ListenerType", "PortType", "ScriptEventType"]

Listener = TypeVar("Listener", contravariant=True)


class ListenerType(Protocol[Listener]):
    """An event, without addListener, whose parameters differ."""

    def removeListener(self, listener: Listener, /) -> None:
        """Unregister a listener."""

    def hasListener(self, listener: Listener, /) -> bool:
        """Whether a listener is registered."""
        ...


class ScriptEventType(ListenerType[Listener], Protocol[Listener]):
    """An event whose addListener takes only a listener."""

    def addListener(self, listener: Listener, /) -> None:
        """Register a listener."""


class PortType(Protocol):
    """One end of a port."""

    name: str
    error: Exception | None
    onMessage: ScriptEventType[Callable[..., Any]]
    onDisconnect: ScriptEventType[Callable[..., Any]]

    def postMessage(self, message: Any) -> None:
        """Send a message to the other end."""

    def disconnect(self) -> None:
        """Disconnect both ends."""

    async def receive(self) -> Any:
        """Wait for the next message."""
