"""Runs the scripts of an extension in a sandbox: one Deno process per extension."""

from hatbox.errors import ExtensionTerminated, NetworkError, ScriptError
from hatbox.extensions.runtime.api_description import Description, describe
from hatbox.extensions.runtime.boot import Boot
from hatbox.extensions.runtime.bridge import Runtime
from hatbox.extensions.runtime.deno import DenoProcess
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.host import (
    FetchRequest,
    FetchResponse,
    Host,
    Listener,
    LogEntry,
    Socket,
    SocketClosed,
    SocketRequest,
)
from hatbox.extensions.runtime.limits import RuntimeLimits

__all__ = [
    "Boot",
    "DenoProcess",
    "Description",
    "Exit",
    "ExtensionTerminated",
    "FetchRequest",
    "FetchResponse",
    "Host",
    "Listener",
    "LogEntry",
    "NetworkError",
    "Runtime",
    "RuntimeLimits",
    "ScriptError",
    "Socket",
    "SocketClosed",
    "SocketRequest",
    "describe",
]
