"""The command line: the table of commands, and the entry point.

To add a command:

1. Write its function in a module of hatbox.cli.commands, with the arguments of hatbox.cli.arguments. Its own are
   an Argument or an Option of hatbox.cli.arguments.parameters: a command does not import Typer. Its docstring is its
   help; the first paragraph is the line in lists of commands.
2. Add a row to COMMANDS, or to its group in GROUPS. A new group also needs a row in GROUP_HELP. A command that has
   no arguments can have the name of a group: `hatbox mcp` and `hatbox mcp install`.
3. Add its name, or that of its new group, to a panel of PANELS, at the place where a reader would look for it.
4. Run `python -m hatbox.cli.table.generate` and `python -m hatbox.cli.reference > docs/reference/cli.md`. Tests check
   that both files are current. After a merge conflict in command_table.json, take either side and generate it again.

Shell completion derives the names of a parameter from its metavar: see hatbox.cli.completion.candidates.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO

from hatbox.cli.arguments.argument_order import note_words
from hatbox.cli.arguments.profile_creation import allow_creation
from hatbox.cli.commands.run.fast_run import fast_run
from hatbox.cli.table import command_table
from hatbox.cli.table.direct_parser import direct_values, split_command_line
from hatbox.cli.terminal.proposed_commands import note_profile

if TYPE_CHECKING:
    import typer

__all__ = ["ALIASES", "COMMANDS", "GROUPS", "GROUP_HELP", "PANELS", "invoke", "main", "without_aliases"]

COMMANDS: Final[dict[str, str]] = {
    "list": "identities.list_",
    "get": "identities.get",
    "create": "identities.create",
    "update": "identities.update",
    "move": "identities.move",
    "hide": "identities.hide",
    "show": "identities.show",
    "remove": "identities.remove",
    "clone": "identities.clone",
    "settings": "settings.settings",
    "open": "tabs.open_",
    "open-link": "links.open_link",
    "install-links": "links.install_links",
    "tabs": "tabs.tabs",
    "close": "tabs.close",
    "browse": "browse.browse",
    "ui": "ui.ui",
    "sites": "sites.sites",
    "status": "status.status",
    "stop": "stop.stop",
    "backup": "archives.backup",
    "restore": "archives.restore",
    "import": "transfer.import_",
    "export": "transfer.export",
    "fetch": "fetch.fetch",
    "run": "run.run_command.run",
    "console": "console.console",
    "mcp": "mcp.mcp",
    "endpoint": "endpoint.endpoint",
    "demo": "demo.demo",
    "activity": "activity.activity",
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
        "open": "extensions.open_page",
        "trigger": "extensions.trigger",
    },
    "trash": {
        "list": "trash.list_",
        "restore": "trash.restore",
        "empty": "trash.empty",
    },
    "history": {
        "list": "history.list_",
        "search": "history.search",
        "clear": "history.clear",
    },
    "rules": {
        "list": "site_rules.list_",
        "add": "site_rules.add",
        "remove": "site_rules.remove",
        "clear": "site_rules.clear",
        "test": "site_rules.test",
        "import": "site_rules.import_",
    },
    "grant": {
        "create": "grants.create",
        "list": "grants.list_",
        "revoke": "grants.revoke",
    },
    "mcp": {
        "install": "mcp_clients.install",
        "uninstall": "mcp_clients.uninstall",
    },
    "profile": {
        "info": "profile.info",
        "create": "profile.create",
        "copy": "profile.copy",
        "settings": "profile_settings.settings",
        "generate-key": "profile_key.generate_key",
        "encrypt": "profile_key.encrypt",
        "rekey": "profile_key.rekey",
        "decrypt": "profile_key.decrypt",
    },
}
GROUP_HELP: Final[dict[str, str]] = {
    "cookies": "List, set and remove the cookies of an identity.",
    "extensions": "Install, list, remove and trigger extensions.",
    "grant": "Give a program some identities and nothing else: create, list and revoke grants.",
    "history": "List, search and clear the visited pages, if they are recorded.",
    "mcp": "Let an agent use one identity: write the configuration of agents.",
    "rules": "Open the right identity by itself: assign URLs to identities.",
    "trash": "List, restore and delete removed identities.",
    "profile": "Describe, create, copy and encrypt profiles, and change their settings.",
}
PANELS: Final[dict[str, tuple[str, ...]]] = {
    "Open pages": (
        *("ui", "open", "tabs", "close", "browse", "fetch"),
        *("sites", "rules", "history", "open-link", "install-links"),
    ),
    "Identities": (
        *("list", "get", "create", "clone", "update", "move", "hide", "show", "settings"),
        *("remove", "trash", "colors", "icons"),
    ),
    "Cookies and files": ("backup", "restore", "cookies", "import", "export"),
    "Scripts and extensions": ("run", "console", "extensions", "mcp", "endpoint", "grant", "activity"),
    "The profile": ("status", "stop", "profile", "check", "demo"),
}
"""The commands and groups in the order of the help, by what people do."""
ALIASES: Final[dict[str, str]] = {"ls": "list", "rm": "remove"}
"""Other names of commands, also of those in groups."""

is_program = False
"""Whether this process exits after its command, so that the end of the command may have a limit; not in tests."""


def main() -> NoReturn:
    """Run the command line and exit."""
    global is_program
    is_program = True
    _write_no_core_dumps()
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
    except SystemExit as stop:  # of a command with a status; Typer raises it after a broken pipe
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - every error has a message and an exit status
        from hatbox.cli.terminal.command_errors import exit_status

        return exit_status(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _run(arguments: list[str]) -> object:
    allow_creation(False)
    note_profile(None)
    if extension_run := fast_run(arguments):
        _accept_interrupts()
        return extension_run()
    arguments = without_aliases(arguments, ALIASES, GROUPS)
    note_words(arguments)
    if run := _direct_call(arguments):
        return run()
    from typer.main import get_command

    app = _app_for(arguments)
    gc.enable()
    _accept_interrupts()
    return get_command(app).main(arguments, prog_name="hatbox", standalone_mode=False)


def _direct_call(arguments: Sequence[str]) -> Callable[[], object] | None:
    """The function that runs a plain command line; None for all others, which Typer parses."""
    options, rest = split_command_line(arguments)
    group = 1 if _is_in_group(rest) else 0
    name = " ".join(rest[: group + 1])
    path = GROUPS[rest[0]][rest[1]] if group else COMMANDS.get(name)
    entry = command_table().get(name)
    if entry is None or path != entry["function"]:
        return None
    values = direct_values(entry, rest[group + 1 :])
    if values is None:
        return None
    names = {each["name"] for each in entry["parameters"]}
    given = {**{key: value for key, value in options.items() if key in names}, **values}
    command_table.cache_clear()  # half a megabyte, which a server would not use any more
    return partial(_call_command, name, path, given)


def _app_for(arguments: Sequence[str]) -> typer.Typer:
    """The application with the command that the arguments name; for help and errors, with placeholders for all."""
    from hatbox.cli.program import group_program, listing, program

    rest = split_command_line(arguments).rest
    has_word = len(rest) > 1 and not rest[1].startswith("-")
    if _is_in_group(rest) or (has_word and rest[0] in COMMANDS and rest[0] in GROUPS):
        return group_program(rest[0])
    if rest and rest[0] in COMMANDS:
        return program(rest[0])
    return listing()


def _is_in_group(words: Sequence[str]) -> bool:
    """Whether a command line names a command of a group."""
    return len(words) > 1 and words[1] in GROUPS.get(words[0], ())


def _write_no_core_dumps() -> None:
    """The memory has keys and cookies, also that of the browser. Crash reporters of Linux obey this limit too."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


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


def without_aliases(arguments: Sequence[str], aliases: Mapping[str, str], groups: Container[str]) -> list[str]:
    """The command line with the names of commands in place of aliases."""
    line = split_command_line(arguments)
    rest = list(line.rest)
    if not rest:
        return list(arguments)
    if rest[0] == "version":
        rest[0] = "--version"
    elif rest[0] == "help":
        rest = [*_named(rest[1:], aliases, groups), "--help"]
    else:
        rest = _named(rest, aliases, groups)
    return list(arguments) if rest == line.rest else [*line.before, *rest]


def _named(words: Sequence[str], aliases: Mapping[str, str], groups: Container[str]) -> list[str]:
    places = 2 if words and words[0] in groups else 1
    return [*(aliases.get(word, word) for word in words[:places]), *words[places:]]


def _accept_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on. Until the command runs, it ends the process: see __main__."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _call_command(name: str, path: str, values: Mapping[str, Any]) -> object:
    """Call the function at a path in hatbox.cli.commands with the values of its parameters."""
    module, _, function = path.rpartition(".")
    command = getattr(import_module(f"hatbox.cli.commands.{module}"), function)
    given = dict(values)
    if given.pop("create", False):
        allow_creation()
    gc.enable()
    _accept_interrupts()
    try:
        return command(**given)
    except Exception as error:
        if hasattr(error, "format_message") and getattr(error, "ctx", None) is None:
            error.ctx = SimpleNamespace(command_path=f"hatbox {name}")  # type: ignore[attr-defined]
        raise
