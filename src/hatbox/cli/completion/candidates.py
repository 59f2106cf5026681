"""The suggestions for a word of a command line: commands, options and values.

The metavar of a parameter says which values it takes, see _VALUES. In some groups it means something else: see
_MEANINGS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hatbox.cli import ALIASES, COMMANDS, GROUP_HELP, GROUPS
from hatbox.cli.table import CommandEntry, ParameterEntry, command_table

__all__ = ["Suggestion", "candidates"]


class Suggestion(NamedTuple):
    """A suggestion."""

    value: str
    help: str = ""


_ROOT_OPTIONS: Final = {
    "--profile": "Path or URL of the profile.",
    "--json": "Print JSON, for programs.",
    "--create": "Create the profile given with --profile if it does not exist.",
    "--version": "Show the version and exit.",
    "--help": "Show this message and exit.",
}
_VALUES: Final = {
    "NAME-OR-ID": "identities",
    "TAB": "tabs",
    "COLOR": "colors",
    "ICON": "icons",
    "POSITION": ("first", "last"),
    "METHOD": ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
    "SCRIPT.py|EXTENSION": "extensions",
    "NAME|ID|PATH": "extensions",
    "RULE": "rules",
    "GRANT": "grants",
    "ACTION": ("fetch", "pages", "cookies", "cookieValues", "tabs", "settings"),
    "CLIENT": ("claude", "claude-code", "codex", "cursor", "gemini", "vscode", "windsurf", "zed"),
    "DURATION": ("30m", "8h", "7d", "ever"),
    "SETTING": ("proxy", "user-agent", "locale", "timezone"),
}
"""The values of a parameter, by its metavar: a kind of names, or the values themselves."""
_MEANINGS: Final = {
    ("extensions", "NAME-OR-ID"): "extensions",
    ("extensions", "ID"): "tabs",
    ("rules", "ID"): "rules",
    ("rules", "NUMBER"): "rules",
    ("trash", "NAME-OR-ID"): "trash",
    ("trash", "NAME"): "trash",
    ("trash", "ID"): "trash",
}
"""Metavars with another meaning in a group."""
_CHOICES: Final = re.compile(r"[a-z0-9-]+(\|[a-z0-9-]+)+")
_PROFILE_KINDS: Final = ("identities", "tabs", "extensions", "rules", "grants", "trash")


def candidates(words: Sequence[str], incomplete: str) -> list[Suggestion]:
    """The suggestions for `incomplete` after `words`, without the name of the program. If none, shells offer files."""
    return [each for each in _candidates(list(words), incomplete) if each.value.startswith(incomplete)]


def _candidates(words: list[str], incomplete: str) -> list[Suggestion]:
    profile = _profile_in(words)
    rest = _after_root_options(words)
    if rest and rest[0] == "help":
        rest = rest[1:]
        if len(rest) > 1 or (rest and rest[0] not in GROUPS):
            return []
    if not rest:
        if words[-1:] == ["--profile"]:
            return []
        return _options(_ROOT_OPTIONS) if incomplete.startswith("-") else _commands()
    name = ALIASES.get(rest[0], rest[0])
    arguments = rest[1:]
    if name in GROUPS and not _is_command(name, arguments, incomplete):
        if not arguments:
            return [Suggestion(verb, _help(f"{name} {verb}")) for verb in GROUPS[name]]
        verb, *arguments = arguments
        name = f"{name} {ALIASES.get(verb, verb)}"
    entry = command_table().get(name)
    return [] if entry is None else _of_command(name, entry, arguments, incomplete, profile)


def _is_command(name: str, arguments: Sequence[str], incomplete: str) -> bool:
    """Whether the name of a group is that of a command here, which has options only."""
    return name in COMMANDS and (arguments[0] not in GROUPS[name] if arguments else incomplete.startswith("-"))


def _of_command(
    name: str, entry: CommandEntry, words: list[str], incomplete: str, profile: str | None
) -> list[Suggestion]:
    """The options or values that can follow in the arguments of a command."""
    options = {spelling: each for each in entry["parameters"] for spelling in each["options"]}
    given = _given(words, options)
    if given.pending is not None:
        return _values(name, given.pending, profile)
    if incomplete.startswith("-") and not given.ended:
        option, equals, _ = incomplete.partition("=")
        if equals and option in options:
            return [each._replace(value=f"{option}={each.value}") for each in _values(name, options[option], profile)]
        unused = {
            spelling: each["help"]
            for spelling, each in options.items()
            if each["multiple"] or not given.used.intersection(each["options"])
        }
        return _options({**unused, "--help": "Show this message and exit."})
    arguments = [each for each in entry["parameters"] if not each["options"]]
    if not arguments or (given.arguments >= len(arguments) and not arguments[-1]["multiple"]):
        return []
    return _values(name, arguments[min(given.arguments, len(arguments) - 1)], profile)


class _Given(NamedTuple):
    """The part of a command line before the word that is completed."""

    pending: ParameterEntry | None
    """The option whose value is completed."""
    used: frozenset[str]
    arguments: int
    ended: bool
    """Whether -- has ended the options."""


def _given(words: Sequence[str], options: dict[str, ParameterEntry]) -> _Given:
    used: set[str] = set()
    arguments, pending = 0, None
    for number, word in enumerate(words):
        if pending is not None:
            pending = None
        elif word == "--":
            return _Given(None, frozenset(used), arguments + len(words) - number - 1, ended=True)
        elif word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            used.add(name)
            option = options.get(name)
            pending = option if option is not None and option["type"] != "flag" and not equals else None
        else:
            arguments += 1
    return _Given(pending, frozenset(used), arguments, ended=False)


def _values(name: str, parameter: ParameterEntry, profile: str | None) -> list[Suggestion]:
    metavar = parameter["metavar"].strip("[]").removesuffix("...").strip("[]")
    if _CHOICES.fullmatch(metavar):
        return [Suggestion(choice) for choice in metavar.split("|")]
    if metavar == "FORMAT":
        listed = re.match(r"Format: (.*?)\.?$", parameter["help"])
        return [Suggestion(each) for each in listed[1].split(", ")] if listed else []
    kind = _MEANINGS.get((name.split()[0], metavar)) or _VALUES.get(metavar)
    if kind is None:
        return []
    return _names(kind, profile) if isinstance(kind, str) else [Suggestion(each) for each in kind]


def _names(kind: str, profile: str | None) -> list[Suggestion]:
    if kind in _PROFILE_KINDS:
        from hatbox.profile_names import profile_names

        return _unambiguous(profile_names(profile, kind))
    from hatbox.identity import palette

    return [Suggestion(name, code) for name, code in (palette.COLORS if kind == "colors" else palette.ICONS)]


def _unambiguous(names: Iterable[tuple[str, str]]) -> list[Suggestion]:
    """Each name; its id (the description) if a name occurs twice, has several lines or looks like an option."""
    found = list(names)
    count: dict[str, int] = {}
    for name, _ in found:
        count[name] = count.get(name, 0) + 1
    by_id = {name for name in count if count[name] > 1 or not name.isprintable() or name.startswith("-")}
    shown = [(about, name) if name in by_id else (name, about) for name, about in found]
    return [
        Suggestion(value, about if about.isprintable() else "")
        for value, about in shown
        if value and not value.startswith("-")
    ]


def _commands() -> list[Suggestion]:
    every = [Suggestion(name, _help(name)) for name in COMMANDS]
    groups = [Suggestion(name, about) for name, about in GROUP_HELP.items() if name not in COMMANDS]
    return [
        *every,
        *groups,
        Suggestion("help", "Show the help of a command."),
        Suggestion("version", "Show the version."),
    ]


def _options(options: dict[str, str]) -> list[Suggestion]:
    return [Suggestion(spelling, about) for spelling, about in options.items() if spelling.startswith("--")]


def _help(name: str) -> str:
    entry = command_table().get(name)
    return entry["help"] if entry else ""


def _profile_in(words: Sequence[str]) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--profile" and following:
            return following
        if word.startswith("--profile="):
            return word.partition("=")[2]
    return None


def _after_root_options(words: Sequence[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest.pop(0) == "--profile" and rest:
            rest.pop(0)
    return rest
