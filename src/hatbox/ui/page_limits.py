"""The limits of the server of the manager page. Contains only settings. Sizes are in bytes, times in seconds."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PageLimits"]

_MIB = 1 << 20


class PageLimits(NamedTuple):
    """What pages and other clients may use."""

    connections: int = 128
    """Connections of all clients. Further ones are closed at once."""
    pages: int = 32
    """Sessions of pages, those that reconnect included."""
    text: int = 32 * _MIB
    """One text of a page: an extension that is installed, or a file of cookies that is imported."""
    request: int = 16 * 1024
    """The head of an HTTP request."""
    request_timeout: float = 10.0
    """The time for a whole request, and for the first text of a WebSocket."""
    high_water: int = 8 * _MIB
    """Bytes that a page has not acknowledged, beyond which its calls wait."""
    results: int = 48 * _MIB
    """Bytes of results that a page has not acknowledged. A larger result is an error of its call."""
    unacknowledged: int = 64 * _MIB
    """Bytes that a page has not acknowledged, beyond which its session ends. It loads everything again."""
    send_timeout: float = 30.0
    """The time in which a page has to read something, or its connection ends."""
    calls: int = 1024
    """Calls of a page without a result, beyond which the page is not read."""
    listeners: int = 512
    """Listeners of a page."""
    resume_timeout: float = 120.0
    """How long the session of a lost page can be resumed."""
    closing_timeout: float = 30.0
    """How long the calls of a closed page may take, except those that last: see LastingCalls."""
