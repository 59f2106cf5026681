"""Runs the scripts of an extension in a sandbox: one Deno process per extension.

A name is imported when it is first used: the manager page needs the bridge, and no process.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "Boot": "boot",
    "DenoProcess": "deno",
    "Description": "api_description",
    "Exit": "exit_reason",
    "Runtime": "bridge",
    "RuntimeLimits": "limits",
    "describe": "api_description",
}
_ERRORS = ("ExtensionTerminated", "NetworkError", "ScriptError")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "hatbox.errors" if name in _ERRORS else f"{__name__}.{_MODULES.get(name, 'host')}"
    value = globals()[name] = getattr(import_module(module), name)
    return value
