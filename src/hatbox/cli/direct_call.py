"""Calls the function of a command as Typer does, with the command's name in its usage errors."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from hatbox.cli.arguments.profile_creation import allow_creation

__all__ = ["call_command"]


def call_command(name: str, path: str, values: Mapping[str, Any]) -> object:
    """Call the function at a path in hatbox.cli.commands with the values of its parameters."""
    module, _, function = path.rpartition(".")
    command = getattr(import_module(f"hatbox.cli.commands.{module}"), function)
    given = dict(values)
    if given.pop("create", False):
        allow_creation()
    gc.enable()
    try:
        return command(**given)
    except Exception as error:
        if hasattr(error, "format_message") and getattr(error, "ctx", None) is None:
            error.ctx = SimpleNamespace(command_path=f"hatbox {name}")  # type: ignore[attr-defined]
        raise
