"""What goes wrong, in words for a person and in JSON for a program, and the exit status that follows.

Knows nothing of single commands. Nothing here shows a traceback, unless HATBOX_DEBUG is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TextIO

from hatbox.cli.terminal.output import document, print_identities, print_json, print_line
from hatbox.errors import HatboxError, IdentityNotFound
from hatbox.identities.model import ContextualIdentity

__all__ = ["FAILED", "INTERRUPTED", "USAGE", "CommandError", "exit_status", "report"]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130  # what a shell reports for a program that Ctrl-C has ended


class CommandError(Exception):
    """What was asked cannot be done: a message, more lines for a person, and details for a program."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        lines: Sequence[str] = (),
        details: Mapping[str, object] = MappingProxyType({}),
        candidates: Sequence[ContextualIdentity] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lines = lines
        self.details = details
        self.candidates = candidates


def exit_status(error: BaseException, *, as_json: bool) -> int:
    """Tell the user of an error and return the exit status."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":  # Typer's, in whichever of its homes
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return FAILED  # whoever read our output has seen enough
    if os.environ.get("HATBOX_DEBUG"):
        sys.excepthook(type(error), error, error.__traceback__)
    report(_failure(error), as_json=as_json)
    return USAGE if _is_usage(error) else FAILED


def report(failure: CommandError, *, as_json: bool) -> None:
    """Print a failure to the standard error stream."""
    stream: TextIO = sys.stderr
    if as_json:
        details = {**failure.details}
        if failure.candidates:
            details["candidates"] = [document(each) for each in failure.candidates]
        print_json({"error": {"type": failure.kind, "message": failure.message, **details}}, stream)
        return
    print_line(f"hatbox: {failure.message}", stream)
    for line in failure.lines:
        print_line(line, stream)
    print_identities(failure.candidates, stream)


def _failure(error: BaseException) -> CommandError:
    if isinstance(error, CommandError):
        return error
    if isinstance(error, IdentityNotFound):
        return CommandError(type(error).__name__, str(error), details={"nearest": error.nearest})
    if isinstance(error, HatboxError):
        return CommandError(type(error).__name__, str(error))
    if _is_usage(error):
        return _usage(error)
    if isinstance(error, OSError):
        return CommandError(type(error).__name__, f"the system refused: {error.strerror or error}")
    return CommandError(
        type(error).__name__,
        f"something went wrong: {type(error).__name__}: {error}",
        lines=["This is not your fault: please report it. With HATBOX_DEBUG=1 you see more."],
    )


def _is_usage(error: BaseException) -> bool:
    return hasattr(error, "format_message")  # Typer has had several homes for the class that these errors share


def _usage(error: BaseException) -> CommandError:
    message: str = error.format_message()  # type: ignore[attr-defined]
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context else "hatbox"
    lines = [f"Try '{path} --help'."]
    if type(error).__name__ == "NoSuchOption":
        lines.append("A name that begins with a dash goes after a -- of its own.")
    return CommandError("UsageError", message, lines=lines)
