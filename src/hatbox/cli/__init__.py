"""The command line: the commands put together, and the entry point. What a command does is in its own module."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TextIO

import typer
from typer.main import get_command

from hatbox import __version__
from hatbox.cli.failures import USAGE, status_of
from hatbox.cli.options import JsonOption, ProfileOption

__all__ = ["COMMANDS", "GROUPS", "invoke", "main", "program"]

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

_HELP: Final = {
    "cookies": "Look at the cookies of an identity, and change them.",
    "extensions": "Look after extensions, and click on what they show.",
}


def program(*names: str) -> typer.Typer:
    """The program with these commands and groups, or with all. To make one takes as long as to run most commands."""
    made = typer.Typer(name="hatbox", context_settings={"help_option_names": ["--help", "-h"]})
    made.callback(invoke_without_command=True)(_root)
    for name, function in COMMANDS.items():
        if not names or name in names:
            made.command(name)(_function(function))
    for name, functions in GROUPS.items():
        if not names or name in names:
            group = typer.Typer(help=_HELP[name])
            for verb, function in functions.items():
                group.command(verb)(_function(function))
            made.add_typer(group, name=name)
    return made


def _function(named: str) -> Callable[..., None]:
    module, _, name = named.partition(".")
    function: Callable[..., None] = getattr(import_module(f"hatbox.cli.{module}"), name)
    return function


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"hatbox {__version__}\n")
        raise typer.Exit


def _root(
    context: typer.Context,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
    version: Annotated[  # noqa: ARG001 - its callback does it all
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Named, colored identities, each with a cookie store of its own: browser containers outside the browser."""
    if context.invoked_subcommand is None:
        with contextlib.redirect_stdout(sys.stderr):
            typer.echo(context.get_help())
        raise typer.Exit(USAGE)
    given: dict[str, Any] = {"as_json": as_json} if profile is None else {"as_json": as_json, "profile": profile}
    context.default_map = {
        **dict.fromkeys(COMMANDS, given),
        **{name: dict.fromkeys(commands, given) for name, commands in GROUPS.items()},
    }


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.stdout = sys.stdout or _nowhere()  # None where the shell has closed it
    sys.stderr = sys.stderr or _nowhere()
    made = _madefor(sys.argv[1:])
    gc.freeze()
    gc.enable()
    status = invoke(sys.argv[1:], made)
    _let_go_of_output()
    sys.exit(status)


def invoke(arguments: Sequence[str], made: typer.Typer | None = None) -> int:
    """Run one command line; returns its exit status and lets no error through."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        try:
            status = get_command(made or _madefor(arguments)).main(
                list(arguments), prog_name="hatbox", standalone_mode=False
            )
        finally:
            with contextlib.suppress(ValueError):  # a script may have closed it
                sys.stdout.flush()
    except SystemExit as stop:  # Typer's way of ending after a broken pipe
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - each gets its words and its exit status
        return status_of(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _madefor(arguments: Sequence[str]) -> typer.Typer:
    """The program with the command that comes first; with all of them where something else does."""
    named = arguments[0] if arguments else ""
    return program(named) if named in COMMANDS or named in GROUPS else program()


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _let_go_of_output() -> None:
    """Python flushes once more when it ends, and complains; what could be written has been written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # gone, or closed by the script itself
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
