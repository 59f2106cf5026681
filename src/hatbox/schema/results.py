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
    if schema["type"] == "array":
        item = compile_shape(schema["items"])
        return lambda values: [item(value) for value in values]
    if schema["type"] == "object":
        return _object(list(schema["properties"]))
    return lambda value: value


def _object(names: list[str]) -> Shape:
    # As source, because this runs once for every identity of every answer, and twice as fast.
    members = ", ".join(f"{name!r}: value.{snake_case(name)}" for name in names)
    shape: Shape = eval(f"lambda value: {{{members}}}", {})  # noqa: S307 - names of our own schema files
    return shape


def snake_case(name: str) -> str:
    """The Python spelling of a name of the API."""
    return re.sub(r"[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
