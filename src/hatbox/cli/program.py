"""The Typer application, built from the table of commands.

Only the invoked command is complete. Others are placeholders with the help of the generated table: building all
commands takes longer than most commands run.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Final, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from hatbox import __version__
from hatbox.cli import ALIASES, COMMANDS, GROUP_HELP, GROUPS, PANELS
from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.arguments.profile_creation import allow_creation
from hatbox.cli.arguments.profile_options import CreateOption, JsonOption, ProfileOption
from hatbox.cli.table import CommandEntry, command_table
from hatbox.cli.terminal.command_errors import USAGE

__all__ = ["function_of", "group_program", "listing", "program", "signature_of"]

_MIN_PANEL_WIDTH: Final = 80  # columns
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}
_CREATE: Final = "create"
# Modules and functions of commands that open no profile, or have nothing to do in a new one.
_WITHOUT_CREATE: Final = frozenset(
    {
        *("activity", "check", "demo", "history", "palette", "profile", "profile_key", "sites", "status", "stop"),
        *("trash", "archives.backup", "cookies.clear", "cookies.get", "cookies.list_", "cookies.remove"),
        *("extensions.list_", "extensions.open_page", "extensions.permissions", "extensions.remove"),
        *("extensions.trigger", "grants.list_", "grants.revoke", "identities.get", "links.install_links"),
        *("mcp_clients.uninstall", "site_rules.clear", "site_rules.list_", "site_rules.remove", "site_rules.test"),
        *("tabs.close", "tabs.tabs", "transfer.export"),
    }
)
_EPILOG: Final = f"Other names: {', '.join(f'{alias} is {name}' for alias, name in ALIASES.items())}. " + (
    "`hatbox help COMMAND` is `hatbox COMMAND --help`."
)


def program(*names: str) -> typer.Typer:
    """The application with these commands, or with all; without the groups."""
    app = _root_app()
    for name, path in COMMANDS.items():
        if not names or name in names:
            verbs = ", ".join(f"`hatbox {name} {verb}`" for verb in GROUPS.get(name, ()))
            epilog = f"See also {verbs}." if verbs else None
            _add(app, name, function_of(path), panel=_PANEL_OF.get(name), epilog=epilog)
    return app


def group_program(*names: str) -> typer.Typer:
    """The application with the commands of these groups, or of all."""
    app = _root_app()
    for name in names or GROUPS:
        group = _group(app, name)
        for verb, path in GROUPS[name].items():
            _add(group, verb, function_of(path))
    return app


def listing() -> typer.Typer:
    """The application with placeholders for all commands: for the help of groups, and for errors in names."""
    app, table = _root_app(), command_table()
    for name in COMMANDS:
        _add_placeholder(app, name, table, panel=_PANEL_OF.get(name))
    for name, paths in GROUPS.items():
        if name in COMMANDS:
            continue
        group = _group(app, name)
        for verb in paths:
            _add_placeholder(group, f"{name} {verb}", table)
    return app


def function_of(path: str) -> Callable[..., None]:
    """The function of a command, given by its path in hatbox.cli.commands."""
    module, _, name = path.rpartition(".")
    function: Callable[..., None] = getattr(import_module(f"hatbox.cli.commands.{module}"), name)
    return function


def signature_of(function: Callable[..., None]) -> inspect.Signature:
    """The parameters of a command, with --create, which every command has that can use a new profile."""
    signature = inspect.signature(function, eval_str=True)
    module = function.__module__.rpartition(".")[2]
    is_without = not _WITHOUT_CREATE.isdisjoint((module, f"{module}.{function.__name__}"))
    if "profile" not in signature.parameters or is_without:
        return signature
    create = inspect.Parameter(_CREATE, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=CreateOption)
    return signature.replace(parameters=[*signature.parameters.values(), create])


def _with_create(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the parameter --create."""

    @functools.wraps(function)
    def call(**values: Any) -> None:
        if values.pop(_CREATE, False):
            allow_creation()
        function(**values)

    call.__signature__ = _for_typer(signature_of(function))  # type: ignore[attr-defined]
    return call


def _for_typer(signature: inspect.Signature) -> inspect.Signature:
    """The parameters with the arguments and options of Typer in the place of ours."""
    parameters = signature.parameters.values()
    return signature.replace(parameters=[each.replace(annotation=_annotation(each.annotation)) for each in parameters])


def _annotation(ours: Any) -> Any:
    if get_origin(ours) is not Annotated:
        return ours
    value, declared = get_args(ours)
    if isinstance(declared, Argument):
        return Annotated[value, typer.Argument(metavar=declared.metavar, help=declared.help)]
    if isinstance(declared, Option):
        option = typer.Option(
            *declared.names, metavar=declared.metavar, help=declared.help, min=declared.min, max=declared.max
        )
        return Annotated[value, option]
    return ours  # of Typer already


def _root_app() -> typer.Typer:
    app = _typer(name="hatbox", epilog=_EPILOG)
    app.callback(invoke_without_command=True)(_root)
    return app


def _group(app: typer.Typer, name: str) -> typer.Typer:
    group = _typer(help=GROUP_HELP[name])
    app.add_typer(group, name=name, short_help=GROUP_HELP[name], rich_help_panel=_PANEL_OF.get(name))
    return group


def _typer(**settings: Any) -> typer.Typer:
    """An application with help in panels. In a narrow terminal help is plain text: panels truncate option names."""
    columns = shutil.get_terminal_size().columns
    options: dict[str, Any] = {"help_option_names": ["--help", "-h"]}
    if columns < _MIN_PANEL_WIDTH:
        options["terminal_width"] = columns
        settings["rich_markup_mode"] = None
    return typer.Typer(context_settings=options, cls=_Group, **settings)


def _add(
    to: typer.Typer, name: str, function: Callable[..., None], *, panel: str | None = None, epilog: str | None = None
) -> None:
    """Add a command. Its help is one line per paragraph, which the terminal wraps."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    lines = [" ".join(each.split("\n")) for each in paragraphs]
    settings: dict[str, Any] = {"help": "\n\n".join(lines), "short_help": lines[0], "epilog": epilog}
    to.command(name, cls=_Command, rich_help_panel=panel, **settings)(_with_create(function))


def _add_placeholder(
    to: typer.Typer, name: str, table: Mapping[str, CommandEntry], *, panel: str | None = None
) -> None:
    short_help = table[name]["help"] if name in table else ""
    to.command(name.split()[-1], cls=_Command, help=short_help, short_help=short_help, rich_help_panel=panel)(
        _placeholder
    )


def _placeholder() -> None:
    """The commands of a listing are for help and errors. Running one must not look like success."""
    raise RuntimeError("the command was not loaded")


def _without_types(params: list[Any]) -> list[Any]:
    """The parameters, with no type beside flags and arguments: Typer 0.29 prints `<bool>` and `<str>`."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
        elif each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: None  # noqa: ARG005 - as Typer calls it
    return params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, for help."""
        return _without_types(super().get_params(ctx))

    def collect_usage_pieces(self, _: Any) -> list[str]:
        """The arguments as declared: whether Typer adds brackets depends on its version."""
        arguments = [each.metavar or each.name for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each) for each in arguments)]


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, for help."""
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of the panels."""
        order = list(_PANEL_OF)
        return sorted(super().list_commands(ctx), key=lambda name: order.index(name) if name in order else len(order))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by panel, without Rich."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        by_panel: dict[str, list[tuple[str, Any]]] = {}
        for name, command in found:
            if command is not None and not command.hidden:
                by_panel.setdefault(_panel(command), []).append((name, command))
        for panel, commands in by_panel.items():
            _write_section(formatter, panel, commands)


def _panel(command: Any) -> str:
    panel = getattr(command, "rich_help_panel", None)  # Typer's marker object if the command has none
    return panel if isinstance(panel, str) else "Commands"


def _write_section(formatter: Any, title: str, commands: Sequence[tuple[str, Any]]) -> None:
    with formatter.section(title):
        formatter.write_dl([(name, command.short_help or "") for name, command in commands])


def _print_version(is_set: bool) -> None:
    if is_set:
        sys.stdout.write(f"hatbox {__version__}\n")
        raise typer.Exit


def _root(
    context: typer.Context,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
    create: CreateOption = False,
    version: Annotated[  # noqa: ARG001 - handled by the callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Browser containers outside the browser: identities, each with its own cookies."""
    if context.invoked_subcommand is None:
        with contextlib.redirect_stdout(sys.stderr):
            typer.echo(context.get_help())
        raise typer.Exit(USAGE)
    if create:
        allow_creation()
    defaults: dict[str, Any] = {"as_json": as_json} if profile is None else {"as_json": as_json, "profile": profile}
    context.default_map = {
        **dict.fromkeys(COMMANDS, defaults),
        **{
            name: {**(defaults if name in COMMANDS else {}), **dict.fromkeys(commands, defaults)}
            for name, commands in GROUPS.items()
        },
    }


_root.__signature__ = _for_typer(inspect.signature(_root, eval_str=True))  # type: ignore[attr-defined]
