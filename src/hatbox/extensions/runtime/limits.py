"""What one extension may use, and how long the host waits for it. Only settings live here."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RuntimeLimits"]

_MEGABYTE = 1 << 20


class RuntimeLimits(NamedTuple):
    """The limits of one child. The sizes are in bytes, the times in seconds."""

    heap: int = 256 * _MEGABYTE
    """What V8 may use for objects."""
    memory: int = 512 * _MEGABYTE
    """What the process may take beyond what it has when it is ready. Only on Linux."""
    frame: int = 8 * _MEGABYTE
    """The largest frame that is read, and so the largest argument. What is larger would delay others too long."""
    max_send_buffer: int = 64 * _MEGABYTE
    """What may wait for a child that does not read; beyond it, the child counts as unresponsive."""
    max_receive_buffer: int = 64 * _MEGABYTE
    """What is read from a child and waits because the child does not read its answers. The same beyond it."""
    calls: int = 8192
    """Calls under way at once, beyond which the child is not read. Our half of the bridge stays below."""
    max_values: int = 100_000
    """Arrays, objects and what is in them, of one message: to read more at once would delay others too long."""
    listeners: int = 2048
    """Of all events together: to tell each of more would delay others too long."""
    ping_timeout: float = 10.0
    """How long a child may take to answer a ping before it is ended as unresponsive."""
    start_timeout: float = 30.0
    """How long it may take to be ready."""
    files: int = 64
    """Descriptors that it may have open. It needs 14. Only on Linux, as the size of files, which is 0."""
    jobs: int = 2
    """Operations of crypto.subtle that run at once, each in a thread; others wait."""
    require_sandbox: bool = False
    """Whether every layer of the sandbox is required to start an extension."""
    time_slice: float = 0.004
    """How long messages of one child are handled before the loop gets its turn."""
