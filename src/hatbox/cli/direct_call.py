"""Calls the function of a command as Typer does, with the command's name in its usage errors."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from hatbox.cli.arguments.profile_creation import allow_creation

__all__ = ["accept_interrupts", "call_command"]


def accept_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on. Until the command runs, it ends the process: see __main__."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def call_command(name: str, path: str, values: Mapping[str, Any]) -> object:
    """Call the function at a path in hatbox.cli.commands with the values of its parameters."""
    module, _, function = path.rpartition(".")
    command = getattr(import_module(f"hatbox.cli.commands.{module}"), function)
    given = dict(values)
    if given.pop("create", False):
        allow_creation()
    gc.enable()
    accept_interrupts()
    try:
        return command(**given)
    except Exception as error:
        if hasattr(error, "format_message") and getattr(error, "ctx", None) is None:
            error.ctx = SimpleNamespace(command_path=f"hatbox {name}")  # type: ignore[attr-defined]
        raise
