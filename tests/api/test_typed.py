from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hatbox import schema
from hatbox.api import typed

PROTOCOLS = {
    "browsing_data": "BrowsingDataNamespace",
    "contextual_identities": "ContextualIdentitiesNamespace",
    "cookies": "CookiesNamespace",
    "proxy": "ProxyNamespace",
    "tab_groups": "TabGroupsNamespace",
    "tabs": "TabsNamespace",
    "web_navigation": "WebNavigationNamespace",
    "web_request": "WebRequestNamespace",
    "windows": "WindowsNamespace",
}
# Namespaces that only extensions see have no types: JavaScript does not use them.
SCHEMAS = [namespace for namespace in schema.load() if not namespace.for_extensions and not namespace.for_manager]
# From the source: overloads do not exist at run time.
SOURCES = [ast.parse(file.read_text("utf-8")) for file in Path(typed.__path__[0]).glob("*.py")]
CLASSES = {node.name: node.body for source in SOURCES for node in source.body if isinstance(node, ast.ClassDef)}


def methods_of(implementation: str) -> list[ast.FunctionDef]:
    return [node for node in CLASSES[PROTOCOLS[implementation]] if isinstance(node, ast.FunctionDef)]


def attributes_of(name: str) -> set[str]:
    annotated = (node.target for node in CLASSES[name] if isinstance(node, ast.AnnAssign))
    return {target.id for target in annotated if isinstance(target, ast.Name)}


def test_every_namespace_has_its_types() -> None:
    assert {namespace.implementation for namespace in SCHEMAS} == set(PROTOCOLS)


@pytest.mark.parametrize("implementation", PROTOCOLS)
def test_the_types_name_all_members_that_any_schema_has(implementation: str) -> None:
    schemas = [each for each in SCHEMAS if each.implementation == implementation]
    methods = {method.name for method in methods_of(implementation)}
    assert methods == {name for namespace in schemas for name in namespace.functions}
    values = {
        name for namespace in schemas for name in (*namespace.events, *namespace.enumerations, *namespace.constants)
    }
    assert attributes_of(PROTOCOLS[implementation]) == values


def test_the_types_name_all_values_of_an_enumeration() -> None:
    for namespace in SCHEMAS:
        for name, values in namespace.enumerations.items():
            assert attributes_of(f"{name}Type") == set(values)


def test_the_types_take_the_arguments_by_the_names_of_the_schema() -> None:
    for namespace in SCHEMAS:
        for function in namespace.functions.values():
            accepted = [
                [argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)][1:]
                for method in methods_of(namespace.implementation)
                if method.name == function.name
            ]
            assert list(function.parameters) in accepted, function.path
