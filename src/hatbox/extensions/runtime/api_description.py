"""Describes the namespaces that a caller sees, for bridge.js. Built from the schemas that the dispatcher uses too.

Knows no namespace by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

from hatbox.api.caller import Caller
from hatbox.schema import NamespaceSchema, load
from hatbox.schema.loader import resolved

__all__ = ["Description", "describe", "event_returns"]

Description: TypeAlias = dict[str, Any]
"""Namespace → {functions, events, constants}; bridge.js reads it."""

_DOCUMENTATION_KEYS = frozenset({"description", "aliases", "id"})


def describe(caller: Caller, surfaces: Iterable[NamespaceSchema] | None = None) -> Description:
    """The namespaces of `browser` for a caller. Of several schemas of a namespace, the one of highest rank."""
    description: Description = {}
    for surface in load() if surfaces is None else surfaces:
        if surface.namespace not in description and caller.may_use(surface) and not surface.hidden:
            description[surface.namespace] = _namespace(surface, caller)
    return description


def event_returns(surface: NamespaceSchema, name: str) -> bool:
    """Whether the return values of listeners of an event are used."""
    return any(each["name"] == name and "returns" in each for each in _schema(surface.file)["events"])


def _namespace(surface: NamespaceSchema, caller: Caller) -> dict[str, Any]:
    schema = _schema(surface.file)
    shown = schema.get("shownAs", surface.namespace)

    def permitted(members: str) -> list[dict[str, Any]]:
        return [each for each in schema.get(members, ()) if _is_permitted(each, caller)]

    return {
        "functions": {each["name"]: _function(shown, each) for each in permitted("functions")},
        "events": {each["name"]: _event(shown, each, surface, caller) for each in permitted("events")},
        "constants": {
            **{name: each["value"] for name, each in schema.get("properties", {}).items() if "value" in each},
            **surface.enumerations,
        },
    }


def _is_permitted(member: Mapping[str, Any], caller: Caller) -> bool:
    one = member.get("anyPermission", ())
    has_one = not one or not caller.permissions.isdisjoint(one)
    return has_one and caller.permissions.issuperset(member.get("permissions", ()))


def _function(shown: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "shown": f"{shown}.{schema['name']}",
        "async": bool(schema.get("async")),
        "callback": schema.get("async") == "callback",
        "returns": "returns" in schema,
        "anyArguments": schema.get("anyArguments", False),
        "parameters": schema["parameters"],
    }


def _event(shown: str, schema: Mapping[str, Any], surface: NamespaceSchema, caller: Caller) -> dict[str, Any]:
    needs = surface.events[schema["name"]].needs
    return {
        "shown": f"{shown}.{schema['name']}",
        "extra": schema.get("extraParameters", []),
        "returns": "returns" in schema,
        "refused": [
            {"parameter": need.parameter, "word": need.word, "excludes": need.excludes, "message": need.message}
            for need in needs
            if not need.is_satisfied(caller.permissions)
        ],
        "input": schema.get("userInput", False),
    }


@cache
def _schema(file: str) -> dict[str, Any]:
    """A schema file with references resolved, and without documentation."""
    schema: dict[str, Any] = _without_documentation(resolved(file))
    return schema


def _without_documentation(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_documentation(each) for each in schema]
    if isinstance(schema, dict):
        # Keys of `properties` are names of the API, and `description` may be one of them.
        return {
            key: {name: _without_documentation(each) for name, each in value.items()}
            if key == "properties"
            else _without_documentation(value)
            for key, value in schema.items()
            if key not in _DOCUMENTATION_KEYS
        }
    return schema
