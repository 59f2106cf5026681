"""The shape of the package: imports point one way, each name has one meaning, public names are documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, get_origin

import pytest

import hatbox
from hatbox import errors

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hatbox"

# Whole packages, top to bottom: a module imports from its own layer and from layers below, never from above.
LAYERS = [
    "__main__",
    "cli",
    "ui",
    "mcp",
    "testing",
    "__init__",
    "sync",
    "profile",
    "maintenance",
    "profile_names",
    "manager_api",
    "extensions",
    "engines",
    "clients",
    "formats",
    "api",
    "downloads",
    "extension_data",
    "messaging",
    "web_requests",
    "identities",
    "archive",
    "tabs",
    "bookmarks",
    "history",
    "grants",
    "activity_log",
    "site_rules",
    "cookies",
    "identity",
    "store",
    "schema",
    "content_coding",
    "events",
    "clock",
    "tasks",
    "child_processes",
    "new_files",
    "loopback",
    "urls",
    "errors",
    "javascript",
    "text_cache",
    "shell_words",
    "plurals",
]


@cache
def layer_of(module: str) -> int:
    """The index of the layer of a module: that of its package."""
    _, name, *_ = [*module.split("."), "__init__"]
    assert name in LAYERS, f"{module} is in no layer: add it to LAYERS and to CONTRIBUTING.md"
    return LAYERS.index(name)


@cache
def modules() -> dict[str, Path]:
    """The files of all modules by dotted name."""
    return {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def syntax_of(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text("utf-8"))


@cache
def imports_of(module: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(syntax_of(module)):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {name if (name := f"{base}.{alias.name}") in modules() else base for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hatbox"}


def test_imports_point_down() -> None:
    upward = {
        module: names
        for module in modules()
        if (names := [name for name in imports_of(module) if layer_of(name) < layer_of(module)])
    }
    assert not upward, "these modules import from above"
    assert {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))} == {*LAYERS}


def test_api_namespaces_contains_the_implementations_of_the_schemas_and_nothing_else() -> None:
    folder = SOURCE / "api" / "namespaces"
    found = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    schemas = [json.loads(path.read_text("utf-8")) for path in (SOURCE / "schema").glob("*.json")]
    own = [schema for schema in schemas if "like" not in schema and not schema.get("forManager")]
    assert found - {"__init__", "__pycache__"} == {schema["implementation"] for schema in own}


def classes_of(scope: ast.AST) -> Iterator[str]:
    """The names of the public classes of a module: not those inside functions and classes."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, (ast.If, ast.Try)):
            yield from classes_of(node)


def test_a_public_class_name_is_defined_in_one_module_only() -> None:
    defined: dict[str, set[str]] = {}
    for module in modules():
        for name in classes_of(syntax_of(module)):
            defined.setdefault(name, set()).add(module)
    duplicates = {name: where for name, where in defined.items() if len(where) > 1}
    assert not duplicates


def test_the_command_line_uses_no_store() -> None:
    for module in (name for name in modules() if name.startswith("hatbox.cli")):
        assert not [name for name in imports_of(module) if name.startswith("hatbox.store")], module
        path = SOURCE.parent.joinpath(*module.split("."))
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        attributes = {
            node.attr for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.Attribute)
        }
        assert "_store" not in attributes, f"{module} uses _store"


def test_the_list_of_public_names_is_sorted_and_complete() -> None:
    assert hatbox.__all__ == sorted(hatbox.__all__)
    imported = [node for node in ast.walk(syntax_of("hatbox")) if isinstance(node, ast.ImportFrom)]
    public = {alias.name for node in imported if (node.module or "").startswith("hatbox") for alias in node.names}
    assert public - {"*"} | set(errors.__all__) == set(hatbox.__all__) == set(dir(hatbox))


def test_a_public_name_is_the_object_of_its_module() -> None:
    for node in ast.walk(syntax_of("hatbox")):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hatbox"):
            for alias in node.names:
                if alias.name == "*":  # test_errors.py compares the errors
                    continue
                assert getattr(hatbox, alias.name) is getattr(importlib.import_module(node.module or ""), alias.name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hatbox.nothing  # noqa: B018


def test_every_public_name_and_its_methods_have_a_docstring() -> None:
    # A type alias has no docstring at runtime.
    public = {name: thing for name in hatbox.__all__ if get_origin(thing := getattr(hatbox, name)) is not Literal}
    methods = {
        f"{name}.{member}": method
        for name, thing in public.items()
        if inspect.isclass(thing)
        for member, method in vars(thing).items()
        if not member.startswith("_") and callable(method)
    }
    assert [name for name, thing in {**public, **methods}.items() if not inspect.getdoc(thing)] == []


def test_every_module_has_a_docstring_and_can_be_imported() -> None:
    for found in pkgutil.walk_packages([str(SOURCE)], prefix="hatbox."):
        if found.name != "hatbox.__main__":
            assert importlib.import_module(found.name).__doc__, found.name


def test_tests_mirror_the_source() -> None:
    about_the_project = {
        "bare_calls",
        "budgets",
        "mutants",
        "conformance",
        "documents",
        "layout",
        "many_machines",
        "performance",
        "quick_limits",
        "docs",
        "readme",
        "time_limit",
        "typing",
    }
    parts = {path.stem for path in SOURCE.iterdir()} | about_the_project
    tests = {
        path.parent.relative_to(ROOT / "tests").parts[:1] or (path.stem,) for path in ROOT.glob("tests/**/test_*.py")
    }
    assert {name.removeprefix("test_") for (name,) in tests} <= parts


def test_a_short_module_lives_in_the_only_one_that_imports_it() -> None:
    importers: dict[str, list[str]] = {}
    for module in modules():
        for name in imports_of(module):
            importers.setdefault(name, []).append(module)
    short = {
        module: users[0]
        for module, users in importers.items()
        if len(users) == 1 and (path := modules().get(module)) and path.name != "__init__.py" and lines_of(path) < 60
    }
    assert len(short) <= 17, "fewer than 60 lines, and one importer"


def lines_of(path: Path) -> int:
    return path.read_text("utf-8").count("\n")
