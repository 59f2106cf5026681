"""The reference of all commands, as Markdown: `python -m hatbox.cli.reference > docs/reference/cli.md`.

It is made from the commands themselves, so it says what they do. A command or an option without help is an error.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from typer.main import get_command

from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.program import program

__all__ = ["Undocumented", "reference"]

_INTRODUCTION: Final = """\
# The command line

<!-- Made by `python -m hatbox.cli.reference > docs/reference/cli.md`. Do not edit. -->

`hatbox` works on the identities of a profile: one file, which many programs can share. An identity is named by its
name or by its id (`firefox-container-2`). A name that nothing has brings up the nearest one; a name that several have
brings up all of them with their ids, and nothing is changed. A name that begins with a dash goes after `--`:
`hatbox get -- -x`.

Every command takes `--profile` and `--json`, before or after its name.

| exit status | meaning |
|---|---|
| 0 | done |
| 1 | what was asked cannot be done; nothing was changed, or the message says what was |
| 2 | wrong usage |
| 130 | interrupted with Ctrl-C |

`hatbox run` exits with the status that the script asks for. `hatbox browse` exits with 0 after Ctrl-C: that is its end.

## The engine

Tabs are rows of the profile, and one engine at a time makes them so: Chromium, or the HTTP engine, which needs no
browser and runs no scripts. `hatbox browse` holds it in the foreground. `hatbox open` uses the one that runs, or starts
one in the background, which ends after the last tab was closed.

While an engine runs in the background, its log is a file beside the profile, `profile.db-engine.log`. It never contains
URLs of pages. An engine that shuts down cleanly removes it. If the engine was killed or has crashed, the next command
that looks for an engine (`open`, `browse`, `tabs`, `hide`, `show`) moves the log to your log folder, and prints its new
path: `~/.local/state/hatbox/log/` on Linux, `~/Library/Logs/hatbox/` on macOS, `%LOCALAPPDATA%\\hatbox\\Logs\\` on
Windows. The log of an engine that shut down cleanly is stored there too if it contains warnings; the folder has the
latest ten logs. To see the log as it is written, run the engine in the foreground: `hatbox browse`.

## JSON

With `--json` a command prints one JSON document. An identity is always this object, with its members in this order:

    {
      "name": "Work",
      "icon": "briefcase",
      "iconUrl": "resource://usercontext-content/briefcase.svg",
      "color": "orange",
      "colorCode": "#ff9f00",
      "cookieStoreId": "firefox-container-2",
      "hidden": false
    }

`get`, `create` and `update` print one identity; `list`, `move`, `hide`, `show` and `remove` print an array of them,
even for one. `colors` prints an array of `{"color", "colorCode"}`, `icons` one of `{"icon", "iconUrl"}`. `run` prints
what the script prints, and only its errors are JSON.

A tab is this object, in the words of `browser.tabs` where it has them:

    {
      "id": 3,
      "identity": "Work",
      "cookieStoreId": "firefox-container-2",
      "windowId": 1,
      "index": 2,
      "url": "https://site.example/",
      "title": "A page",
      "status": "complete",
      "active": true,
      "pinned": false,
      "hidden": false,
      "httpStatus": 200,
      "contentType": "text/html; charset=utf-8",
      "error": ""
    }

`identity` is null for a tab of no identity; `url` is where a load under way leads to (`status` is then `loading`);
`error` says why there is no page. `open`, `tabs` and `close` print an array of them. `browse` prints a line for each
thing that happens, each a JSON document: `{"event": "ready", "engine", "process", "tabs"}` when tabs can be opened, and
`{"event", "tab"}`, where `event` is `opened`, `loaded`, `failed`, `hidden`, `shown` or `closed`.

A cookie is the object that `browser.cookies` knows: `name`, `value`, `domain`, `hostOnly`, `path`, `secure`,
`httpOnly`, `sameSite`, `session`, `firstPartyDomain`, `partitionKey`, `expirationDate` (not for a session cookie) and
`storeId`. `cookies get` and `cookies set` print one, `cookies list` and `cookies clear` an array, `cookies remove` the
`url`, `name`, `storeId`, `firstPartyDomain` and `partitionKey` of what is gone.

`import` prints a report: `identitiesNew`, `identitiesKnown`, `cookiesNew`, `cookiesChanged`, `cookiesUnchanged`, and
`skipped` and `lost`, objects of words and numbers (0 where nobody can know). `export` prints `identities`, `cookies`
and `lost`; where the export itself goes to the standard output, that is printed to the standard error stream.

An extension is `{"id", "name", "version", "path", "installed", "enabled", "process"}`: one that is only tried out is
not `installed`, and `process` is the one that runs it, or null. `extensions list`, `install` and `remove` print an
array of them; with `--ui` each has `ui`, null if it does not run, else `{"id", "name", "process", "menus", "action",
"pageAction", "commands", "notifications"}` as it is for the active tab. `extensions permissions` prints `{"id", "name",
"required", "granted", "optional"}`, `extensions trigger` `{"extension", "what", "tabId", "popup"}`, where `popup` is
the page that a button opens, or null.

Errors go to the standard error stream, with `--json` as `{"error": {"type", "message"}}`. Some have more members:
`nearest` (names that are much like the one that was given), `candidates` (the identities that share a name), `allowed`
(all colors or icons), `last` (the last position), `missing` (the tabs that are not there), and `file`, `line` and
`frames` for a script.

## Environment

| variable | meaning |
|---|---|
| `HATBOX_PROFILE` | the profile's file, where `--profile` is not given |
| `HATBOX_CHROMIUM` | the Chromium to start, where `--browser` is not given |
| `NO_COLOR` | no colors, when set |
| `FORCE_COLOR` | the table with its colors also where the output is not a terminal, when set |
| `HATBOX_DEBUG` | tracebacks for errors, when set |
"""

_WIDTH: Final = 116

app: Final = program()

_OF_THE_SHELL: Final = ("--install-completion", "--show-completion", "--help")


class Undocumented(Exception):
    """A command, an argument or an option has no help."""


def reference() -> str:
    """The whole of docs/reference/cli.md."""
    return "\n".join([_INTRODUCTION, *(line for name, command in _commands() for line in _section(name, command))])


def _commands() -> Iterator[tuple[str, Any]]:
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    for name in COMMANDS:
        yield name, commands[name]
    for group, verbs in GROUPS.items():
        for verb in verbs:
            yield f"{group} {verb}", commands[group].commands[verb]


def _section(name: str, command: Any) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [
        each for each in command.params if each.param_type_name == "option" and each.opts[0] not in _OF_THE_SHELL
    ]
    if not command.help:
        raise Undocumented(f"hatbox {name}")
    required = [f"{each.opts[0]} {each.metavar}" for each in options if each.required]
    usage = " ".join(["hatbox", name, "[OPTION]...", *(each.metavar for each in arguments), *required])
    yield from (f"## hatbox {name}", "", f"    {usage}", "", _wrapped(command.help), "", "| | |", "|---|---|")
    for each in arguments:
        yield f"| `{_in_table(each.metavar)}` | {_help(name, each)} |"
    for each in options:
        yield f"| {_spelling(each)} | {_help(name, each)} |"
    yield ""


def _wrapped(text: str) -> str:
    paragraphs = (textwrap.wrap(each, _WIDTH, break_on_hyphens=False) for each in text.split("\n\n"))
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _spelling(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar}"
    return _in_table(", ".join(f"`{spelled}{value}`" for spelled in option.opts))


def _in_table(text: str) -> str:
    return text.replace("|", "\\|")


def _help(name: str, parameter: Any) -> str:
    if not parameter.help:
        raise Undocumented(f"hatbox {name}: {parameter.opts[0]}")
    text: str = parameter.help
    if isinstance(parameter.default, str):
        text += f" Default: {parameter.default}."
    return text


if __name__ == "__main__":
    sys.stdout.write(reference())
