"""The command line: which commands there are, and the entry point. What a command does is in its own module."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

from hatbox.cli.fast_run import plain_run
from hatbox.cli.terminal.command_errors import exit_status

if TYPE_CHECKING:
    import typer

__all__ = ["COMMANDS", "GROUPS", "invoke", "main"]

COMMANDS: Final[dict[str, str]] = {
    "list": "identities.list_",
    "get": "identities.get",
    "create": "identities.create",
    "update": "identities.update",
    "move": "identities.move",
    "hide": "identities.hide",
    "show": "identities.show",
    "remove": "identities.remove",
    "open": "tabs.open_",
    "tabs": "tabs.tabs",
    "close": "tabs.close",
    "browse": "browse.browse",
    "import": "transfer.import_",
    "export": "transfer.export",
    "fetch": "fetch.fetch",
    "run": "run.run",
    "console": "console.console",
    "demo": "demo.demo",
    "check": "check.check",
    "colors": "palette.colors",
    "icons": "palette.icons",
}
"""Each command, and the function of a module here that it is. Only those that are called for are imported."""
GROUPS: Final[dict[str, dict[str, str]]] = {
    "cookies": {
        "list": "cookies.list_",
        "get": "cookies.get",
        "set": "cookies.set_",
        "remove": "cookies.remove",
        "clear": "cookies.clear",
    },
    "extensions": {
        "list": "extensions.list_",
        "install": "extensions.install",
        "remove": "extensions.remove",
        "permissions": "extensions.permissions",
        "trigger": "extensions.trigger",
    },
}


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.stdout = sys.stdout or _open_devnull()  # None where the shell has closed it
    sys.stderr = sys.stderr or _open_devnull()
    status = invoke(sys.argv[1:])
    _suppress_output_errors()
    sys.exit(status)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit status and lets no error through."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        try:
            status = _run(list(arguments))
        finally:
            with contextlib.suppress(ValueError):  # a script may have closed it
                sys.stdout.flush()
    except SystemExit as stop:  # Typer's way of ending after a broken pipe
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - each gets its words and its exit status
        return exit_status(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _run(arguments: list[str]) -> object:
    if plain := plain_run(arguments):
        return plain()
    from typer.main import get_command

    program = _program_for(arguments)
    gc.enable()
    return get_command(program).main(arguments, prog_name="hatbox", standalone_mode=False)


def _program_for(arguments: Sequence[str]) -> typer.Typer:
    """The program with the command that comes first; with all of them where something else does."""
    from hatbox.cli.program import program

    named = arguments[0] if arguments else ""
    return program(named) if named in COMMANDS or named in GROUPS else program()


def _open_devnull() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _suppress_output_errors() -> None:
    """Python flushes once more when it ends, and complains; what could be written has been written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # gone, or closed by the script itself
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
