"""Converts results into what a script sees: objects with the properties of the schema, in its order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Converter", "compile_converter", "snake_case"]

Converter: TypeAlias = Callable[[Any], Any]


def compile_converter(schema: Mapping[str, Any] | None) -> Converter:
    """Compile a function that converts a Python value for scripts; without a schema, to None."""
    if schema is None:
        return lambda _: None
    convert = _value_converter(schema)
    if schema.get("optional"):
        return lambda value: None if value is None else convert(value)
    return convert


def _value_converter(schema: Mapping[str, Any]) -> Converter:
    if schema["type"] == "array":
        item = compile_converter(schema["items"])
        return lambda values: [item(value) for value in values]
    if schema["type"] == "object":
        return _object_converter(schema["properties"])
    return lambda value: value


def _object_converter(properties: Mapping[str, Mapping[str, Any]]) -> Converter:
    # Compiled from source, which is twice as fast: this runs for every object of every result.
    converters: dict[str, Any] = {}
    members = [_member(name, schema, converters) for name, schema in properties.items()]
    convert: Converter = eval(f"lambda value: {{{', '.join(members)}}}", converters)  # noqa: S307 - names of our own schema files
    return convert


def _member(name: str, schema: Mapping[str, Any], converters: dict[str, Any]) -> str:
    """The source of one member. Adds the converter of an object or array to `converters`."""
    value = shown = f"value.{snake_case(name)}"
    is_converted = schema["type"] in ("array", "object")
    if is_converted:
        converter = f"convert_{len(converters)}"
        converters[converter] = compile_converter(schema)
        shown = f"{converter}({value})"
    # None is omitted for simple values, and null for objects and arrays, unless the schema says otherwise.
    if schema.get("omitted", schema.get("optional") and not is_converted):
        return f"**({{{name!r}: {shown}}} if {value} is not None else {{}})"
    return f"{name!r}: {shown}"


def snake_case(name: str) -> str:
    """The Python spelling of a name of the API."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
