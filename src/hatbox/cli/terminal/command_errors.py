"""Errors of commands: as text, as JSON, and as an exit status. Prints a traceback only if HATBOX_DEBUG is set."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TextIO

from hatbox.cli.terminal.proposed_commands import with_profile
from hatbox.cli.terminal.terminal_text import without_passwords
from hatbox.errors import EngineAlreadyRunning, EngineError, HatboxError, IdentityNotFound, ProfileNotFound

if TYPE_CHECKING:
    from hatbox.identity.model import ContextualIdentity

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "USAGE",
    "CommandError",
    "Interrupted",
    "engine_details",
    "exit_status",
    "message_of",
    "port_error",
    "report",
]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130  # the status that a shell reports after SIGINT


class Interrupted(Exception):
    """A signal has ended a command before its work was done."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        """The exit status that shells report for a program that a signal has ended."""


class CommandError(Exception):
    """A command failed: the message, more lines of text, and details for JSON."""

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


def port_error(port: int, error: OSError) -> CommandError:
    """Why a server cannot use the port of the option --port."""
    if error.errno == errno.EADDRINUSE:
        reason = "another program uses it"
    elif error.errno == errno.EACCES:
        reason = "only root may use it"
    else:
        reason = error.strerror or str(error)
    return CommandError(
        "PortUnavailable", f"port {port} cannot be used: {reason}. Choose another --port, or none for any free port."
    )


def exit_status(error: BaseException, *, as_json: bool) -> int:
    """Print an error, and return the exit status."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":  # Typer's module of it varies
        return INTERRUPTED
    if isinstance(error, Interrupted):
        return error.status
    if isinstance(error, BrokenPipeError):
        return FAILED  # the reader has closed the pipe
    if os.environ.get("HATBOX_DEBUG"):
        sys.excepthook(type(error), error, error.__traceback__)
    report(_command_error(error), as_json=as_json)
    return USAGE if _is_usage(error) else FAILED


def report(error: CommandError, *, as_json: bool) -> None:
    """Print an error to standard error. An argument that it quotes may be an address with a password."""
    from hatbox.cli.terminal.output import document, print_identities, print_json, print_line  # lazy: imports the store

    stream: TextIO = sys.stderr
    message = with_profile(without_passwords(error.message))
    if as_json:
        details = {**error.details}
        if error.candidates:
            details["candidates"] = [document(each) for each in error.candidates]
        print_json({"error": {"type": error.kind, "message": message, **details}}, stream)
        return
    print_line(f"hatbox: {message}", stream)
    for line in error.lines:
        print_line(without_passwords(line), stream)
    print_identities(error.candidates, stream)


def message_of(error: BaseException) -> str:
    """What a command says about an error, in one line and without passwords."""
    return without_passwords(_command_error(error).message)


def engine_details(error: EngineAlreadyRunning) -> dict[str, object]:
    """The engine that is running, for JSON."""
    identity = {"cookieStoreId": error.identity} if error.identity else {}
    return {"engine": error.engine, "pid": error.process, "machine": error.machine or None, **identity}


def _command_error(error: BaseException) -> CommandError:
    if isinstance(error, CommandError):
        return error
    if isinstance(error, (IdentityNotFound, ProfileNotFound)):
        return CommandError(type(error).__name__, str(error), details={"nearest": error.nearest})
    if isinstance(error, EngineAlreadyRunning):
        return CommandError(type(error).__name__, str(error), details=engine_details(error))
    if isinstance(error, EngineError) and error.page_message != str(error):  # for the program that started the engine
        details = {"pageMessage": without_passwords(error.page_message)}
        return CommandError(type(error).__name__, str(error), details=details)
    if isinstance(error, HatboxError):
        return CommandError(type(error).__name__, str(error))
    if _is_usage(error):
        return _usage_error(error)
    if isinstance(error, OSError):
        return CommandError(type(error).__name__, f"operating system error: {error.strerror or error}")
    return CommandError(
        type(error).__name__,
        f"internal error: {type(error).__name__}: {error}",
        lines=["This is a bug in Hatbox. Please report it. Set HATBOX_DEBUG=1 for a traceback."],
    )


def _is_usage(error: BaseException) -> bool:
    return hasattr(error, "format_message")  # the module of their base class varies with the version of Typer


def _usage_error(error: BaseException) -> CommandError:
    message: str = error.format_message()  # type: ignore[attr-defined]
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context else "hatbox"
    lines = [f"Try '{path} --help'."]
    if type(error).__name__ == "NoSuchOption":
        lines.append("A name that starts with a dash goes after --.")
    return CommandError("UsageError", message, lines=lines)
