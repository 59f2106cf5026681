"""Resource limits and timeouts of an extension process. Contains only settings."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RuntimeLimits"]

_MIB = 1 << 20


class RuntimeLimits(NamedTuple):
    """The limits of one extension process. Sizes are in bytes, times in seconds."""

    heap: int = 256 * _MIB
    """The heap of V8."""
    memory: int = 512 * _MIB
    """Memory of the process in addition to what it uses when it is ready. Only on Linux."""
    frame: int = 8 * _MIB
    """The maximum size of a frame, and so of an argument. A larger one would delay other extensions."""
    max_send_buffer: int = 64 * _MIB
    """Bytes that wait for a process that does not read. Beyond it, the process is ended as unresponsive."""
    max_receive_buffer: int = 64 * _MIB
    """Bytes that were read from a process and wait because it does not read the results. Beyond it, it is ended."""
    calls: int = 8192
    """Pending calls, beyond which the process is not read. The bridge in the process stays below."""
    max_values: int = 100_000
    """Values in one message, at all levels. More would delay other extensions."""
    listeners: int = 2048
    """Listeners of all events. More would delay other extensions."""
    ping_timeout: float = 10.0
    """The time for the response to a ping, after which the process is ended as unresponsive."""
    start_timeout: float = 30.0
    """The time until the process is ready."""
    files: int = 64
    """Open file descriptors. Deno needs 14. Only on Linux."""
    jobs: int = 2
    """Concurrent operations of crypto.subtle, each in a thread; others wait."""
    require_sandbox: bool = False
    """Whether every layer of the sandbox is required to start an extension."""
    time_slice: float = 0.002
    """How long messages of one process are handled before the event loop continues."""
