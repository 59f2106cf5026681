"""Translates the types of the schemas into Python: annotations, TypedDicts for objects, Literals for enumerations.

`pythonClass` in a schema names the class of an object that has no id. `pythonType` is a type for type checkers only,
for values that are not checked or converted.
"""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["LINE_LENGTH", "Direction", "PythonTypes", "Schema", "docstring", "is_optional", "nullable"]

Schema: TypeAlias = Mapping[str, Any]

LINE_LENGTH: Final = 120

_SIMPLE: Final = {
    "string": "str",
    "boolean": "bool",
    "number": "float",
    "integer": "int",
    "function": "Callable[..., Any]",
    "null": "None",
    "any": "Any",
    "clone": "Any",
    "json": "Any",
}
_INSTANCES: Final = {"Date": "datetime.datetime", "Port": "PortType"}


class Direction(enum.Flag):
    """Whether a caller passes a value, or receives it."""

    INPUT = enum.auto()
    OUTPUT = enum.auto()


class _ObjectClass:
    def __init__(self, module: str, namespace: str, schema: Schema) -> None:
        self.module = module
        self.namespace = namespace
        self.schema = schema
        self.directions = Direction(0)


class PythonTypes:
    """The classes of all namespaces. Each name stands for one class."""

    def __init__(self, modules: Mapping[str, str], types: Mapping[str, Mapping[str, Schema]]) -> None:
        self._modules = modules
        """The Python module of each namespace."""
        self._types = types
        """The types of each namespace by their ids."""
        self._objects: dict[str, _ObjectClass] = {}
        self._enumerations: dict[str, tuple[str, Schema]] = {}

    @property
    def homes(self) -> dict[str, str]:
        """The module of each class and alias."""
        enumerations = {name: module for name, (module, _) in self._enumerations.items()}
        return enumerations | {name: each.module for name, each in self._objects.items()}

    def annotation(self, schema: Schema, namespace: str, direction: Direction) -> str:
        """The annotation of a value. Adds the classes that it names."""
        schema = schema.get("pythonType", schema)
        if "$ref" in schema:
            home, _, name = schema["$ref"].rpartition(".")
            home = home or namespace
            return self.annotation(self._types[home][name], home, direction)
        if "choices" in schema:
            return " | ".join(self.annotation(each, namespace, direction) for each in schema["choices"])
        if "enum" in schema:
            return self._literal(schema, namespace)
        if schema["type"] == "array":
            sequence = "list" if Direction.OUTPUT in direction else "Sequence"
            return f"{sequence}[{self.annotation(schema['items'], namespace, direction)}]"
        if schema["type"] == "object":
            return self._object(schema, namespace, direction)
        return _SIMPLE[schema["type"]]

    def aliases(self, module: str) -> Iterator[str]:
        """The source of the Literals of a module."""
        for name, (home, schema) in sorted(self._enumerations.items()):
            if home == module:
                yield _alias(name, schema["enum"])

    def classes(self, module: str) -> Iterator[str]:
        """The source of the TypedDicts of a module."""
        for name, each in sorted(self._objects.items()):
            if each.module == module:
                yield "\n".join(self._class(name, each))

    def _literal(self, schema: Schema, namespace: str) -> str:
        if "id" not in schema:
            return _literal(schema["enum"])
        name = f"{schema['id']}Literal"
        _, known = self._enumerations.setdefault(name, (self._modules[namespace], schema))
        if known["enum"] != schema["enum"]:
            raise ValueError(f"two enumerations are named {name}")
        return name

    def _object(self, schema: Schema, namespace: str, direction: Direction) -> str:
        if "isInstanceOf" in schema:
            return _INSTANCES[schema["isInstanceOf"]]
        name: str = schema["pythonClass"] if "pythonClass" in schema else f"{schema['id']}Dict"
        known = self._objects.setdefault(name, _ObjectClass(self._modules[namespace], namespace, schema))
        if known.schema["properties"] != schema["properties"]:
            raise ValueError(f"two objects are named {name}")
        if direction not in known.directions:
            known.directions |= direction
            for member in schema["properties"].values():
                self.annotation(member, namespace, direction)
        return name

    def _class(self, name: str, each: _ObjectClass) -> Iterator[str]:
        members = each.schema["properties"]
        fields = {member: self._field(schema, each) for member, schema in members.items()}
        total = not all(text.startswith("NotRequired[") for text in fields.values())
        yield f"class {name}(TypedDict{'' if total else ', total=False'}):"
        yield docstring(each.schema["description"], 4)
        yield ""
        for member, text in fields.items():
            yield f"    {member}: {text if total else text.removeprefix('NotRequired[').removesuffix(']')}"
            if description := members[member].get("description"):
                yield docstring(description, 4)

    def _field(self, schema: Schema, each: _ObjectClass) -> str:
        text = self.annotation(schema, each.namespace, each.directions)
        if not is_optional(schema):
            return text
        omitted = schema.get("omitted", not self._is_structured(schema, each.namespace))
        if each.directions == Direction.OUTPUT:
            return f"NotRequired[{text}]" if omitted else nullable(text)
        may_be_none = each.directions == Direction.INPUT or not omitted
        return f"NotRequired[{nullable(text) if may_be_none else text}]"

    def _is_structured(self, schema: Schema, namespace: str) -> bool:
        """Whether results have null in place of a missing value: see schema/results.py."""
        if "$ref" in schema:
            home, _, name = schema["$ref"].rpartition(".")
            return self._is_structured(self._types[home or namespace][name], home or namespace)
        return schema.get("type") in ("array", "object")


def is_optional(schema: Schema) -> bool:
    """Whether a value may be left out."""
    return bool(schema.get("pythonType", schema).get("optional") or schema.get("optional"))


def nullable(text: str) -> str:
    """An annotation that allows None too."""
    return text if text in ("Any", "None") or text.endswith("| None") else f"{text} | None"


def docstring(text: str, indent: int) -> str:
    """A docstring, wrapped if it is too long for one line."""
    margin = " " * indent
    line = f'{margin}"""{text}"""'
    if len(line) <= LINE_LENGTH:
        return line
    wrapped = textwrap.wrap(f'"""{text}', LINE_LENGTH - indent - 3, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{margin}{each}" for each in [*wrapped, '"""'])


def _literal(values: Iterable[str]) -> str:
    return f"Literal[{', '.join(map(_quoted, values))}]"


def _alias(name: str, values: Iterable[str]) -> str:
    line = f"{name}: TypeAlias = {_literal(values)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"{name}: TypeAlias = Literal[", *(f"    {_quoted(value)}," for value in values), "]"])


def _quoted(text: str) -> str:
    return f'"{text}"'
