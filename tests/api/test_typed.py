from __future__ import annotations

import ast
import inspect

from hatbox import schema
from hatbox.api import typed

# From the source: of an overloaded method without a body nothing is left at run time.
(BODY,) = [
    node.body
    for node in ast.parse(inspect.getsource(typed)).body
    if isinstance(node, ast.ClassDef) and node.name == "ContextualIdentitiesNamespace"
]
METHODS = [node for node in BODY if isinstance(node, ast.FunctionDef)]
EVENTS = {node.target.id for node in BODY if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}


def test_the_types_name_all_members_that_any_surface_has() -> None:
    surfaces = [each for each in schema.load() if each.implementation == "contextual_identities"]
    assert {method.name for method in METHODS} == {name for surface in surfaces for name in surface.functions}
    assert {name for surface in surfaces for name in surface.events} == EVENTS


def test_the_types_take_the_arguments_by_the_names_of_the_schema() -> None:
    for surface in schema.load():
        for function in surface.functions.values():
            accepted = [
                [argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)][1:]
                for method in METHODS
                if method.name == function.name
            ]
            assert list(function.parameters) in accepted, function.path
