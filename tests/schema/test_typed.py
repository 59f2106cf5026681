from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hatbox.schema import python_types, typed
from hatbox.schema.python_types import Direction, PythonTypes

TYPES: dict[str, python_types.Schema] = {
    "Tab": {"id": "Tab", "type": "object", "description": "A tab.", "properties": {"id": {"type": "integer"}}},
    "State": {"id": "State", "type": "string", "enum": ["open", "closed"]},
}


def python_types_of_tabs() -> PythonTypes:
    return PythonTypes({"tabs": "tabs"}, {"tabs": TYPES})


def test_the_types_of_browser_are_current() -> None:
    committed = {file.name: file.read_text("utf-8") for file in typed.FOLDER.glob("*.py")}
    assert committed == typed.generate(), "run: python -m hatbox.schema.typed"


@pytest.mark.process
def test_the_command_writes_what_is_committed(tmp_path: Path) -> None:
    script = "import pathlib, sys; from hatbox.schema import typed; typed.write(pathlib.Path(sys.argv[1]))"
    (tmp_path / "removed_namespace.py").touch()
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=60)
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == typed.generate()


def test_a_class_name_is_used_once() -> None:
    names = re.findall(r"^class (\w+)", "\n".join(typed.generate().values()), re.MULTILINE)
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize(
    ("schema", "passed", "received"),
    [
        ({"type": "integer"}, "int", "int"),
        ({"type": "clone"}, "Any", "Any"),
        ({"type": "array", "items": {"type": "string"}}, "Sequence[str]", "list[str]"),
        ({"choices": [{"type": "string"}, {"type": "null"}]}, "str | None", "str | None"),
        ({"type": "string", "enum": ["a", "b"]}, 'Literal["a", "b"]', 'Literal["a", "b"]'),
        ({"$ref": "State"}, "StateLiteral", "StateLiteral"),
        ({"$ref": "tabs.Tab"}, "TabDict", "TabDict"),
        ({"type": "any", "pythonType": {"$ref": "Tab"}}, "TabDict", "TabDict"),
        ({"type": "object", "isInstanceOf": "Date"}, "datetime.datetime", "datetime.datetime"),
    ],
)
def test_the_annotation_of_a_type(schema: python_types.Schema, passed: str, received: str) -> None:
    types = python_types_of_tabs()
    assert types.annotation(schema, "tabs", Direction.INPUT) == passed
    assert types.annotation(schema, "tabs", Direction.OUTPUT) == received


@pytest.mark.parametrize(
    ("direction", "fields"),
    [
        (Direction.INPUT, ["title: NotRequired[str | None]", "tab: NotRequired[TabDict | None]"]),
        (Direction.OUTPUT, ["title: NotRequired[str]", "tab: TabDict | None"]),  # as schema/results.py writes them
    ],
)
def test_optional_members_of_an_object(direction: Direction, fields: list[str]) -> None:
    members = {
        "id": {"type": "integer"},
        "title": {"type": "string", "optional": True},
        "tab": {"$ref": "Tab", "optional": True},
    }
    schema = {"type": "object", "pythonClass": "Shown", "description": "A test.", "properties": members}
    types = python_types_of_tabs()
    types.annotation(schema, "tabs", direction)
    [source] = [each for each in types.classes("tabs") if each.startswith("class Shown")]
    assert source.splitlines()[3:] == ["    id: int", *(f"    {field}" for field in fields)]


def test_two_objects_with_one_name_are_refused() -> None:
    types = python_types_of_tabs()
    types.annotation({"$ref": "Tab"}, "tabs", Direction.INPUT)
    other = {"type": "object", "pythonClass": "TabDict", "properties": {}}
    with pytest.raises(ValueError, match="TabDict"):
        types.annotation(other, "tabs", Direction.INPUT)
