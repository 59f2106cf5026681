"""Parses a plain command line with the table of commands, and without Typer, whose import takes longer than a command.

Everything unusual is left to Typer: help, unknown commands and options, missing and invalid values. So help texts and
error messages have one origin. What is parsed here has the meaning that it has there: a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hatbox.cli.table import CommandEntry, ParameterEntry

__all__ = ["CommandLine", "direct_values", "split_command_line"]

_INTEGER: Final = re.compile(r"-?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_END: Final = "--"


class CommandLine(NamedTuple):
    """A command line in parts."""

    options: dict[str, Any]
    """The values of options before the command, by the names of their parameters."""
    rest: list[str]
    """The command and its arguments; empty if there is no command, or if an option before it is left to Typer."""

    @property
    def before(self) -> list[str]:
        """The options before the command, spelled out."""
        spelled = [f"--profile={self.options['profile']}"] if "profile" in self.options else []
        return spelled + [f"--{flag}" for flag, name in _FLAGS.items() if self.options.get(name)]


_FLAGS: Final = {"json": "as_json", "create": "create"}


def split_command_line(arguments: Sequence[str]) -> CommandLine:
    """Split off the options before the command: --profile, --json and --create. A `--` ends them."""
    options: dict[str, Any] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        if (word := rest.pop(0)) == _END:
            break
        name, equals, value = word.removeprefix("--").partition("=")
        if name == "profile" and (equals or rest):
            options["profile"] = value if equals else rest.pop(0)
        elif name in _FLAGS and not equals:
            options[_FLAGS[name]] = True
        else:
            return CommandLine({}, [])
    return CommandLine(options, rest)


def direct_values(entry: CommandEntry, arguments: Sequence[str]) -> dict[str, Any] | None:
    """The values of the parameters that are given; None if the command line is to be parsed by Typer."""
    options = {spelling: each for each in entry["parameters"] for spelling in each["options"]}
    found: list[tuple[ParameterEntry, str]] = []
    positional: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == _END:
            positional += rest
            break
        if word.startswith("-") and word != "-":
            given = _options_in(word, rest, options)
            if given is None:
                return None
            found += given
        else:
            positional.append(word)
    placed = _placed([each for each in entry["parameters"] if not each["options"]], positional)
    return None if placed is None else _converted(entry, placed + found)


def _options_in(
    word: str, rest: list[str], options: Mapping[str, ParameterEntry]
) -> list[tuple[ParameterEntry, str]] | None:
    """The options in one word, which may be several short ones. Takes the value of the last from `rest`."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return _one(options.get(name), value if equals else None, rest)
    found: list[tuple[ParameterEntry, str]] = []
    for index, letter in enumerate(word[1:], 2):
        option = options.get(f"-{letter}")
        if option is not None and option["type"] == "flag":
            found.append((option, ""))
            continue
        last = None if word[index:].startswith("=") else _one(option, word[index:] or None, rest)
        return None if last is None else found + last
    return found


def _one(option: ParameterEntry | None, value: str | None, rest: list[str]) -> list[tuple[ParameterEntry, str]] | None:
    if option is None or (option["type"] == "flag") == (value is not None):
        if option is None or value is not None or not rest or rest[0].startswith("-"):
            return None
        value = rest.pop(0)
    return [(option, value or "")]


def _placed(declared: list[ParameterEntry], given: list[str]) -> list[tuple[ParameterEntry, str]] | None:
    """The arguments with their parameters, of which only the last may take several."""
    if any(each["multiple"] for each in declared[:-1]):
        return None
    single = [each for each in declared if not each["multiple"]]
    several = declared[-1:] if len(single) < len(declared) else []
    if len(given) > len(single) and not several:
        return None
    placed = list(zip(single, given, strict=False))
    return placed + [(several[0], value) for value in given[len(single) :]]


def _converted(entry: CommandEntry, found: Sequence[tuple[ParameterEntry, str]]) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    for parameter, text in found:
        value = _value(parameter["type"], text)
        if value is None:
            return None
        if parameter["multiple"]:
            values.setdefault(parameter["name"], []).append(value)
        else:
            values[parameter["name"]] = value
    if any(each["required"] and each["name"] not in values for each in entry["parameters"]):
        return None
    return values


def _value(kind: str, text: str) -> Any:
    if kind == "text":
        return text
    if kind == "flag":
        return True
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) else None
    return float(text) if kind == "number" and _NUMBER.fullmatch(text) else None
