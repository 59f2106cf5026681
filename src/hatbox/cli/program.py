"""The program: the commands put together, for whoever parses a command line. What a command does is in its module."""

from __future__ import annotations

import contextlib
import inspect
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from hatbox import __version__
from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.options import JsonOption, ProfileOption
from hatbox.cli.terminal.command_errors import USAGE

__all__ = ["program"]

_PANELS: Final = 80  # columns
_HELP: Final = {
    "cookies": "Look at the cookies of an identity, and change them.",
    "extensions": "Look after extensions, and click on what they show.",
}


def program(*names: str) -> typer.Typer:
    """The program with these commands and groups, or with all. To make one takes as long as to run most commands."""
    columns = shutil.get_terminal_size().columns
    made = _typer(columns, name="hatbox")
    made.callback(invoke_without_command=True)(_root)
    for name, function in COMMANDS.items():
        if not names or name in names:
            _add(made, name, _function(function))
    for name, functions in GROUPS.items():
        if not names or name in names:
            group = _typer(columns, help=_HELP[name])
            for verb, function in functions.items():
                _add(group, verb, _function(function))
            made.add_typer(group, name=name, short_help=_HELP[name])
    return made


def _typer(columns: int, **settings: Any) -> typer.Typer:
    """Help in panels; in a narrow terminal as plain text, because panels truncate the names of options."""
    options: dict[str, Any] = {"help_option_names": ["--help", "-h"]}
    if columns < _PANELS:
        options["terminal_width"] = columns
        return typer.Typer(context_settings=options, rich_markup_mode=None, **settings)
    return typer.Typer(context_settings=options, **settings)


def _add(to: typer.Typer, name: str, function: Callable[..., None]) -> None:
    """Add a command. Its help is one line per paragraph, which the terminal wraps."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    lines = [" ".join(each.split("\n")) for each in paragraphs]
    to.command(name, cls=_Command, help="\n\n".join(lines), short_help=lines[0])(function)


class _Command(TyperCommand):
    def collect_usage_pieces(self, _: Any) -> list[str]:
        """The arguments as they are spelled in this program: Typer adds brackets of its own, or not, by its version."""
        arguments = [each.metavar or each.name for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each) for each in arguments)]


def _function(named: str) -> Callable[..., None]:
    module, _, name = named.partition(".")
    function: Callable[..., None] = getattr(import_module(f"hatbox.cli.commands.{module}"), name)
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
