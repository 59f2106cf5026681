"""The shape of the package: imports point one way, public names are listed and explained, tests mirror the source."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path

import pytest

import hatbox

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hatbox"

# Top to bottom: a module may import what stands below it, never what stands above.
LAYERS = [
    "__main__",
    "cli",
    "testing",
    "__init__",
    "sync",
    "profile",
    "extensions",
    "engines",
    "clients",
    "formats",
    "api",
    "extension_data",
    "messaging",
    "web_requests",
    "identities",
    "tabs",
    "identities.model",
    "cookies",
    "store",
    "schema",
    "content_coding",
    "events",
    "clock",
    "tasks",
    "urls",
    "identities.palette",
    "identities.ids",
    "errors",
    "javascript",
    "text_cache",
]


def layer_of(module: str) -> int:
    """The index of the layer that a dotted name below hatbox belongs to."""
    name = module.removeprefix("hatbox").removeprefix(".") or "__init__"
    while name not in LAYERS:
        name = name.rpartition(".")[0]
    return LAYERS.index(name)


@cache
def modules() -> list[str]:
    return [
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def imports_of(module: str) -> set[str]:
    path = SOURCE.parent.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {name if (name := f"{base}.{alias.name}") in modules() else base for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hatbox"}


@pytest.mark.parametrize("module", modules())
def test_imports_point_down(module: str) -> None:
    upward = [name for name in imports_of(module) if layer_of(name) < layer_of(module)]
    assert not upward, f"{module} imports {upward} from above"


def test_the_list_of_public_names_is_sorted_and_complete() -> None:
    assert hatbox.__all__ == sorted(hatbox.__all__)
    source = ast.parse((SOURCE / "__init__.py").read_text("utf-8"))
    imported = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    public = {alias.name for node in imported if (node.module or "").startswith("hatbox") for alias in node.names}
    assert public == set(hatbox.__all__) <= set(dir(hatbox))


def test_a_public_name_is_what_the_module_that_has_it_calls_so() -> None:
    source = ast.parse((SOURCE / "__init__.py").read_text("utf-8"))
    for node in ast.walk(source):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hatbox"):
            for alias in node.names:
                assert getattr(hatbox, alias.name) is getattr(importlib.import_module(node.module or ""), alias.name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hatbox.nothing  # noqa: B018


@pytest.mark.parametrize("name", hatbox.__all__)
def test_a_public_name_is_explained(name: str) -> None:
    thing = getattr(hatbox, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        members = {key: value for key, value in vars(thing).items() if not key.startswith("_") and callable(value)}
        assert all(inspect.getdoc(member) for member in members.values()), members


def test_every_module_says_what_lives_in_it_and_can_be_imported() -> None:
    for found in pkgutil.walk_packages([str(SOURCE)], prefix="hatbox."):
        if found.name != "hatbox.__main__":
            assert importlib.import_module(found.name).__doc__, found.name


def test_tests_mirror_the_source() -> None:
    # conformance/ runs one file of cases through several layers; the others are about the project as a whole.
    exempt = {
        "coded_site",
        "conformance",
        "deadline",
        "firefox",
        "loopback_proxy",
        "site",
        "__init__",
        "test_layout",
        "test_docs",
        "test_readme",
        "test_typing",
        "conftest",
    }
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()} | {path.stem for path in SOURCE.glob("*.py")}
    for entry in (ROOT / "tests").iterdir():
        name = entry.stem
        if name not in exempt and not name.startswith("__") and (entry.is_dir() or entry.suffix == ".py"):
            assert name.removeprefix("test_") in folders, f"tests/{entry.name} is about nothing in src/hatbox"
