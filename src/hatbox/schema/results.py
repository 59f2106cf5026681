"""Converts results into what a script sees: objects with the properties of the schema, in its order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Shape", "compile_shape", "snake_case"]

Shape: TypeAlias = Callable[[Any], Any]


def compile_shape(schema: Mapping[str, Any] | None) -> Shape:
    """Compile a function that converts a Python value for scripts; without a schema, to None."""
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
    # Compiled from source, which is twice as fast: this runs for every object of every result.
    shapes: dict[str, Any] = {}
    members = [_member(name, schema, shapes) for name, schema in properties.items()]
    shape: Shape = eval(f"lambda value: {{{', '.join(members)}}}", shapes)  # noqa: S307 - names of our own schema files
    return shape


def _member(name: str, schema: Mapping[str, Any], shapes: dict[str, Any]) -> str:
    """The source of one member. Adds the shape of an object or array to `shapes`."""
    value = shown = f"value.{snake_case(name)}"
    has_shape = schema["type"] in ("array", "object")
    if has_shape:
        shaper = f"shape_{len(shapes)}"
        shapes[shaper] = compile_shape(schema)
        shown = f"{shaper}({value})"
    # None is omitted for simple values, and null for objects and arrays, unless the schema says otherwise.
    if schema.get("omitted", schema.get("optional") and not has_shape):
        return f"**({{{name!r}: {shown}}} if {value} is not None else {{}})"
    return f"{name!r}: {shown}"


def snake_case(name: str) -> str:
    """The Python spelling of a name of the API."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
