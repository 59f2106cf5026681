"""The program: the commands put together, for whoever parses a command line. What a command does is in its module."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from hatbox import __version__
from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.failures import USAGE
from hatbox.cli.options import JsonOption, ProfileOption

__all__ = ["program"]

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
