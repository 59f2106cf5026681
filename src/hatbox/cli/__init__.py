"""The command line: the table of commands, and the entry point."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

from hatbox.cli.commands.run.fast_run import fast_run
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
    "status": "status.status",
    "import": "transfer.import_",
    "export": "transfer.export",
    "fetch": "fetch.fetch",
    "run": "run.run_command.run",
    "console": "console.console",
    "demo": "demo.demo",
    "check": "check.check",
    "colors": "palette.colors",
    "icons": "palette.icons",
}
"""Each command and its function in hatbox.cli.commands, which is imported when the command is run."""
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
    "rules": {
        "list": "site_rules.list_",
        "add": "site_rules.add",
        "remove": "site_rules.remove",
        "clear": "site_rules.clear",
        "test": "site_rules.test",
        "import": "site_rules.import_",
    },
    "profile": {
        "info": "profile.info",
        "create": "profile.create",
        "copy": "profile.copy",
        "generate-key": "profile_key.generate_key",
        "encrypt": "profile_key.encrypt",
        "rekey": "profile_key.rekey",
        "decrypt": "profile_key.decrypt",
    },
}


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.stdout = sys.stdout or _open_devnull()  # None if the shell has closed it
    sys.stderr = sys.stderr or _open_devnull()
    status = invoke(sys.argv[1:])
    _suppress_output_errors()
    sys.exit(status)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit status. Raises nothing."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        try:
            status = _run(list(arguments))
        finally:
            with contextlib.suppress(ValueError):  # a script may have closed it
                sys.stdout.flush()
    except SystemExit as stop:  # Typer raises it after a broken pipe
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - every error has a message and an exit status
        return exit_status(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _run(arguments: list[str]) -> object:
    if run := fast_run(arguments):
        return run()
    from typer.main import get_command

    program = _program_for(arguments)
    gc.enable()
    return get_command(program).main(arguments, prog_name="hatbox", standalone_mode=False)


def _program_for(arguments: Sequence[str]) -> typer.Typer:
    """The program with only the command that the arguments name, or with all commands."""
    from hatbox.cli.program import program

    named = arguments[0] if arguments else ""
    return program(named) if named in COMMANDS or named in GROUPS else program()


def _open_devnull() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _suppress_output_errors() -> None:
    """Redirect closed streams to the null device: Python flushes them at exit, and would report the error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has closed the pipe, or the script the stream
            with contextlib.suppress(OSError, ValueError):
                devnull = os.open(os.devnull, os.O_WRONLY)
                os.dup2(devnull, stream.fileno())
                os.close(devnull)
