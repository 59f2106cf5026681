"""A command line that is parsed without Typer has the meaning that it has with Typer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from hatbox.cli.program import function_of, group_program, program
from hatbox.cli.table import command_table
from hatbox.cli.table.direct_parser import direct_values, split_command_line

NAMES = sorted(command_table())


def typer_values(name: str, words: list[str]) -> dict[str, Any] | None:
    """The values that Typer passes to the function; None if it refuses the command line, or prints help."""
    first, *verb = name.split()
    app = PROGRAMS.setdefault(f"{first} {len(verb)}", get_command(group_program(first) if verb else program(first)))
    try:
        context = app.make_context("hatbox", [*name.split(), *words], resilient_parsing=False)
        for part in name.split():
            _, command, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
            context = command.make_context(part, rest, parent=context)
    except BaseException as error:
        if type(error).__name__ in ("Exit", "SystemExit") or hasattr(error, "format_message"):
            return None
        raise
    return dict(context.params)


PROGRAMS: dict[str, Any] = {}


VALUES = {
    "text": st.sampled_from(["a", "Work", "", "-", "=", "a=b", "é", "7"]) | st.text(max_size=3),
    "integer": st.sampled_from(["7", "-1", "07", "1_0", " 1", "x", "9" * 20]),
    "number": st.sampled_from(["1", "1.5", "0", "-1", "1e3", "nan", "x", ".5"]),
}
NOISE = st.sampled_from(["--", "-", "--nosuch", "-h", "--json", "x", "-1", ""])


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Mostly valid command lines: parameters in any order, options spelled in every way, and a wrong word at times."""
    name = draw(st.sampled_from(NAMES))
    parts: list[list[str]] = []
    cluster = ""
    for each in command_table()[name]["parameters"]:
        times = draw(st.integers(0 if not each["required"] else 1, 2 if each["multiple"] else 1))
        for _ in range(times):
            value = "" if each["type"] == "flag" else draw(VALUES.get(each["type"], VALUES["integer"]))
            if not each["options"]:
                parts.append([value])
                continue
            spelling = draw(st.sampled_from(each["options"]))
            if each["type"] == "flag":
                parts.append([spelling])
                cluster += spelling[1] if len(spelling) == 2 else ""
            elif draw(st.booleans()):
                parts.append([spelling, value])
            elif spelling.startswith("--"):
                parts.append([f"{spelling}={value}"])
            else:
                parts.append([f"-{cluster}{spelling[1]}{value}"])
    parts = draw(st.permutations(parts))
    if draw(st.integers(0, 4)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), [draw(NOISE)])
    return name, [word for part in parts for word in part]


@pytest.mark.slow
@given(command_lines())
@settings(max_examples=600, deadline=None)
def test_a_plain_command_line_means_what_it_means_to_typer(line: tuple[str, list[str]]) -> None:
    name, words = line
    found = direct_values(command_table()[name], words)
    if found is not None:
        expected = typer_values(name, words)
        assert expected is not None, "Typer refuses this command line"
        assert with_defaults(name, found) == {key: normal(value) for key, value in expected.items()}


def with_defaults(name: str, values: dict[str, Any]) -> dict[str, Any]:
    function: Callable[..., None] = function_of(command_table()[name]["function"])
    defaults = {
        each.name: each.default
        for each in inspect.signature(function).parameters.values()
        if each.default is not inspect.Parameter.empty
    }
    has_create = any(each["name"] == "create" for each in command_table()[name]["parameters"])
    every = {**defaults, **({"create": False} if has_create else {}), **values}
    return {key: normal(value) for key, value in every.items()}


def normal(value: Any) -> Any:
    """Typer passes tuples to the wrapper, and an empty sequence or None for several values that are not given."""
    if isinstance(value, (list, tuple)):
        return list(value) or None
    return value


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("list", [], {}),
        ("get", ["Work", "--json"], {"identity": "Work", "as_json": True}),
        ("remove", ["-y", "--", "-x", "--json"], {"yes": True, "identities": ["-x", "--json"]}),
        ("fetch", ["-iLo", "f", "Work", "-dx", "u"], None),
        ("close", ["3", "4"], {"tab_ids": [3, 4]}),
        ("close", ["three"], None),
        ("get", ["--help"], None),
        ("get", [], None),
        ("get", ["Work", "Play"], None),
        ("get", ["Work", "--color", "red"], None),
    ],
)
def test_examples(name: str, words: list[str], expected: dict[str, Any] | None) -> None:
    if name == "fetch":
        expected = {"include": True, "location": True, "output": "f", "identity": "Work", "data": ["x"], "url": "u"}
    assert direct_values(command_table()[name], words) == expected


def test_options_before_the_command_are_split_off() -> None:
    line = split_command_line(["--json", "--profile", "a.db", "cookies", "list", "--json"])
    assert tuple(line) == ({"as_json": True, "profile": "a.db"}, ["cookies", "list", "--json"])
    assert line.before == ["--profile=a.db", "--json"]
    assert split_command_line(["--nosuch", "list"]).rest == []
    assert split_command_line(["--profile"]).rest == []
