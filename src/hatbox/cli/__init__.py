"""The command line: the commands put together, and the entry point. What a command does is in its own module."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TextIO

import typer
from typer.main import get_command

from hatbox import __version__
from hatbox.cli import browse, console, cookies, extensions, fetch, identities, palette, run, tabs, transfer
from hatbox.cli.failures import USAGE, status_of
from hatbox.cli.options import JsonOption, ProfileOption

__all__ = ["COMMANDS", "GROUPS", "app", "invoke", "main"]

COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "list": identities.list_,
    "get": identities.get,
    "create": identities.create,
    "update": identities.update,
    "move": identities.move,
    "hide": identities.hide,
    "show": identities.show,
    "remove": identities.remove,
    "open": tabs.open_,
    "tabs": tabs.tabs,
    "close": tabs.close,
    "browse": browse.browse,
    "import": transfer.import_,
    "export": transfer.export,
    "fetch": fetch.fetch,
    "run": run.run,
    "console": console.console,
    "colors": palette.colors,
    "icons": palette.icons,
}
GROUPS: Final[dict[str, dict[str, Callable[..., None]]]] = {
    "cookies": {
        "list": cookies.list_,
        "get": cookies.get,
        "set": cookies.set_,
        "remove": cookies.remove,
        "clear": cookies.clear,
    },
    "extensions": {
        "list": extensions.list_,
        "install": extensions.install,
        "remove": extensions.remove,
        "permissions": extensions.permissions,
        "trigger": extensions.trigger,
    },
}

_HELP: Final = {
    "cookies": "Look at the cookies of an identity, and change them.",
    "extensions": "Look after extensions, and click on what they show.",
}

app: Final = typer.Typer(name="hatbox", context_settings={"help_option_names": ["--help", "-h"]})
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
for _name, _commands in GROUPS.items():
    _group = typer.Typer(help=_HELP[_name])
    for _verb, _command in _commands.items():
        _group.command(_verb)(_command)
    app.add_typer(_group, name=_name)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"hatbox {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
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
    status = invoke(sys.argv[1:])
    _let_go_of_output()
    sys.exit(status)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit status and lets no error through."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        try:
            status = get_command(app).main(list(arguments), prog_name="hatbox", standalone_mode=False)
        finally:
            with contextlib.suppress(ValueError):  # a script may have closed it
                sys.stdout.flush()
    except SystemExit as stop:  # Typer's way of ending after a broken pipe
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - each gets its words and its exit status
        return status_of(error, as_json=as_json)
    return status if isinstance(status, int) else 0


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
