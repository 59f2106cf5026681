"""Reads the schema files and compiles each into a surface: what one kind of caller sees of one namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from hatbox.schema.calls import NormaliseCall, compile_call
from hatbox.schema.results import Shape, compile_shape

__all__ = ["Event", "Function", "Surface", "load"]


class Function(NamedTuple):
    """A function of a surface."""

    name: str
    path: str
    parameters: tuple[str, ...]
    aliases: Mapping[str, str]
    """Other names by which an argument may be given, and the parameter that each stands for."""
    takes_callback: bool
    normalise: NormaliseCall
    shape: Shape


class Event(NamedTuple):
    """An event of a surface. `shape` makes what a listener gets."""

    name: str
    path: str
    shape: Shape


class Surface(NamedTuple):
    """One schema file, compiled. Of those of a namespace that a caller may use, it sees the one of highest rank."""

    file: str
    namespace: str
    permissions: frozenset[str]
    rank: int
    implementation: str
    functions: Mapping[str, Function]
    events: Mapping[str, Event]
    enumerations: Mapping[str, Mapping[str, str]]


@cache
def load() -> tuple[Surface, ...]:
    """All surfaces there are, highest rank first."""
    files = sorted(entry.name for entry in resources.files(__package__).iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(map(_surface, files), key=lambda surface: -surface.rank))


def _surface(file: str) -> Surface:
    schema = json.loads(resources.files(__package__).joinpath(file).read_text("utf-8"))
    schema = _resolve(schema, {each["id"]: each for each in schema["types"]})
    namespace = schema["namespace"]
    return Surface(
        file=file,
        namespace=namespace,
        permissions=frozenset(schema["permissions"]),
        rank=schema["rank"],
        implementation=schema["implementation"],
        functions={each["name"]: _function(namespace, each) for each in schema["functions"]},
        events={each["name"]: _event(namespace, each) for each in schema["events"]},
        enumerations={
            each["id"]: {value.upper(): value for value in each["enum"]} for each in schema["types"] if "enum" in each
        },
    )


def _function(namespace: str, schema: Mapping[str, Any]) -> Function:
    path = f"{namespace}.{schema['name']}"
    return Function(
        name=schema["name"],
        path=path,
        parameters=tuple(each["name"] for each in schema["parameters"]),
        aliases={alias: each["name"] for each in schema["parameters"] for alias in each.get("aliases", ())},
        takes_callback=schema["async"] == "callback",
        normalise=compile_call(path, schema["parameters"]),
        shape=compile_shape(schema.get("returns")),
    )


def _event(namespace: str, schema: Mapping[str, Any]) -> Event:
    (payload,) = schema["parameters"]
    return Event(schema["name"], f"{namespace}.{schema['name']}", compile_shape(payload))


def _resolve(schema: Any, types: Mapping[str, Any]) -> Any:
    """The schema with each reference to a type replaced by the type."""
    if isinstance(schema, list):
        return [_resolve(each, types) for each in schema]
    if isinstance(schema, dict):
        if "$ref" in schema:  # what stands beside the reference, such as `optional`, goes before what the type says
            schema = {**types[schema["$ref"]], **schema}
        return {key: _resolve(each, types) for key, each in schema.items() if key != "$ref"}
    return schema
