"""Results as a script sees them: objects with the properties that the surface declares, in that order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Shape", "compile_shape", "snake_case"]

Shape: TypeAlias = Callable[[Any], Any]


def compile_shape(schema: Mapping[str, Any] | None) -> Shape:
    """A function that turns a Python value into what a script sees; without a schema a call resolves to nothing."""
    if schema is None:
        return lambda _: None
    shape = _shape(schema)
    if schema.get("optional"):
        return lambda value: None if value is None else shape(value)
    return shape


def _shape(schema: Mapping[str, Any]) -> Shape:
    if schema["type"] == "array":
        item = compile_shape(schema["items"])
        return lambda values: [item(value) for value in values]
    if schema["type"] == "object":
        return _object(schema["properties"])
    return lambda value: value


def _object(properties: Mapping[str, Mapping[str, Any]]) -> Shape:
    # As source, because this runs once for every identity of every answer, and twice as fast.
    shapes: dict[str, Any] = {}
    members = [_member(name, schema, shapes) for name, schema in properties.items()]
    shape: Shape = eval(f"lambda value: {{{', '.join(members)}}}", shapes)  # noqa: S307 - names of our own schema files
    return shape


def _member(name: str, schema: Mapping[str, Any], shapes: dict[str, Any]) -> str:
    """The source of one member. What has a shape of its own goes through it, and the shape into `shapes`."""
    value = shown = f"value.{snake_case(name)}"
    has_shape = schema["type"] in ("array", "object")
    if has_shape:
        shaper = f"shape_{len(shapes)}"
        shapes[shaper] = compile_shape(schema)
        shown = f"{shaper}({value})"
    # A simple value that is not there leaves no trace; an object or array does, unless the schema says otherwise.
    if schema.get("omitted", schema.get("optional") and not has_shape):
        return f"**({{{name!r}: {shown}}} if {value} is not None else {{}})"
    return f"{name!r}: {shown}"


def snake_case(name: str) -> str:
    """The Python spelling of a name of the API."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
