"""The Typer application, built from the table of commands."""

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
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption
from hatbox.cli.terminal.command_errors import USAGE

__all__ = ["program"]

_MIN_PANEL_WIDTH: Final = 80  # columns
_HELP: Final = {
    "cookies": "List, set and remove the cookies of an identity.",
    "extensions": "Install, list, remove and trigger extensions.",
    "rules": "Open the right identity by itself: assign URLs to identities.",
    "profile": "Describe, create, copy and encrypt profiles.",
}


def program(*names: str) -> typer.Typer:
    """The application with these commands and groups, or with all. Building all takes as long as most commands run."""
    columns = shutil.get_terminal_size().columns
    app = _typer(columns, name="hatbox")
    app.callback(invoke_without_command=True)(_root)
    for name, function in COMMANDS.items():
        if not names or name in names:
            _add(app, name, _function(function))
    for name, functions in GROUPS.items():
        if not names or name in names:
            group = _typer(columns, help=_HELP[name])
            for verb, function in functions.items():
                _add(group, verb, _function(function))
            app.add_typer(group, name=name, short_help=_HELP[name])
    return app


def _typer(columns: int, **settings: Any) -> typer.Typer:
    """An application with help in panels. In a narrow terminal help is plain text: panels truncate option names."""
    options: dict[str, Any] = {"help_option_names": ["--help", "-h"]}
    if columns < _MIN_PANEL_WIDTH:
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
        """The arguments as declared: whether Typer adds brackets depends on its version."""
        arguments = [each.metavar or each.name for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each) for each in arguments)]


def _function(path: str) -> Callable[..., None]:
    module, _, name = path.rpartition(".")
    function: Callable[..., None] = getattr(import_module(f"hatbox.cli.commands.{module}"), name)
    return function


def _print_version(is_set: bool) -> None:
    if is_set:
        sys.stdout.write(f"hatbox {__version__}\n")
        raise typer.Exit


def _root(
    context: typer.Context,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
    version: Annotated[  # noqa: ARG001 - handled by the callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Browser containers outside the browser: identities, each with its own cookies."""
    if context.invoked_subcommand is None:
        with contextlib.redirect_stdout(sys.stderr):
            typer.echo(context.get_help())
        raise typer.Exit(USAGE)
    defaults: dict[str, Any] = {"as_json": as_json} if profile is None else {"as_json": as_json, "profile": profile}
    context.default_map = {
        **dict.fromkeys(COMMANDS, defaults),
        **{name: dict.fromkeys(commands, defaults) for name, commands in GROUPS.items()},
    }
