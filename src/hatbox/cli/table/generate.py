"""Writes the table of commands: `python -m hatbox.cli.table.generate`.

The parameters are read from the functions themselves, so that the table does not depend on the version of Typer.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.program import function_of, signature_of
from hatbox.cli.table import TABLE_FILE, CommandEntry, ParameterEntry

__all__ = ["table_text"]

_TYPES = {str: "text", int: "integer", float: "number", bool: "flag"}
_OTHER = "other"


def table_text() -> str:
    """The text of command_table.json: a line for each parameter, so that changes are easy to merge."""
    lines = ["{"]
    entries = list(_entries())
    for number, (name, entry) in enumerate(entries, 1):
        lines.append(f' {_json(name)}: {{"function": {_json(entry["function"])}, "help": {_json(entry["help"])},')
        parameters = ",\n".join(f"   {_json(each)}" for each in entry["parameters"])
        lines.append(f'  "parameters": [\n{parameters}]}}{"," if number < len(entries) else ""}')
    return "\n".join([*lines, "}", ""])


def _entries() -> Iterator[tuple[str, CommandEntry]]:
    for name, path in COMMANDS.items():
        yield name, _entry(path)
    for group, paths in GROUPS.items():
        for verb, path in paths.items():
            yield f"{group} {verb}", _entry(path)


def _entry(path: str) -> CommandEntry:
    function = function_of(path)
    first = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0]
    return CommandEntry(function=path, help=" ".join(first.split("\n")), parameters=list(_parameters(function)))


def _parameters(function: Callable[..., None]) -> Iterator[ParameterEntry]:
    for each in signature_of(function).parameters.values():
        annotated, settings = _unwrapped(each.annotation)
        kind, multiple = _type(annotated)
        options: list[str] = []
        if isinstance(settings, Option):
            options = list(settings.names) or [f"--{each.name.replace('_', '-')}"]
            if settings.max is not None or settings.min not in (None, *((0,) if kind == "number" else ())):
                kind = _OTHER  # the parser without Typer checks no range, and reads no negative number
        yield ParameterEntry(
            name=each.name,
            options=options,
            type=kind,
            multiple=multiple,
            required=each.default is inspect.Parameter.empty,
            metavar=settings.metavar or "",
            help=settings.help,
        )


def _unwrapped(annotation: Any) -> tuple[Any, Argument | Option]:
    declared = getattr(annotation, "__metadata__", (None,))[-1]
    if not isinstance(declared, (Argument, Option)):
        raise TypeError(f"a parameter of a command must be Annotated with an Argument or an Option: {annotation}")
    return get_args(annotation)[0], declared


def _type(annotation: Any) -> tuple[str, bool]:
    """The type of one value, and whether the parameter takes several."""
    members = [each for each in get_args(annotation) if each is not type(None)]
    if type(None) in get_args(annotation):
        return _type(members[0]) if len(members) == 1 else (_OTHER, False)
    if get_origin(annotation) is list:
        return _type(members[0])[0], True
    return _TYPES.get(annotation, _OTHER), False


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    TABLE_FILE.write_text(table_text(), "utf-8")
