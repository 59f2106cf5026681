"""A user's own code passes mypy --strict against the installed package, and can name every type that it gets."""

from __future__ import annotations

import ast
import functools
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import hatbox
from tests.marks import starts

GOOD = """
    import asyncio

    import hatbox


    async def main() -> str:
        async with hatbox.open("profile.db") as profile:
            browser = profile.browser(permissions=["contextualidentities"])
            work = await browser.contextualIdentities.create({"name": "Work", "color": "orange", "icon": "briefcase"})
            found = await browser.contextualIdentities.query({"name": "Work"})
            await browser.contextualIdentities.hide(work["cookieStoreId"])
            await browser.contextualIdentities.get(cookiestoreid=found[0]["cookieStoreId"])
            browser.contextualIdentities.onCreated.addListener(lambda info: print(info["contextualIdentity"]["name"]))
            travel = await profile.identities.create("Travel", color="blue", icon="vacation")
            profile.identities.on_removed.add_listener(lambda identity: print(identity.name))
            return travel.cookie_store_id


    def sync() -> list[str]:
        with hatbox.open_sync("profile.db") as profile:
            return [identity.name for identity in profile.identities.query()]


    asyncio.run(main())
"""

BAD = """
    import hatbox


    async def main(profile: hatbox.Profile) -> None:
        await profile.identities.create("Travel", color=1, icon="vacation")
        await profile.browser([]).contextualIdentities.create({"name": "Travel"})
        (await profile.identities.get("firefox-container-1")).nmae
        profile.identities.query()[0]
"""


@pytest.fixture(scope="module")
@starts("process")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy prints about both programs, in one run."""
    folder = tmp_path_factory.mktemp("mypy")
    programs = {"good.py": GOOD, "bad.py": BAD}
    for name, source in programs.items():
        (folder / name).write_text(textwrap.dedent(source), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", *programs]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert "(checked 2 source files)" in done.stdout, done
    return done.stdout.splitlines()


def test_a_users_program_passes_mypy_strict(report: list[str]) -> None:
    assert [line for line in report if not line.startswith(("bad.py:", "Found "))] == []


def test_a_users_mistakes_are_found(report: list[str]) -> None:
    assert [line.split(":")[1] for line in report if "error:" in line] == ["6", "7", "8", "9"], report


def returned_names(cls: type) -> Iterator[tuple[str, str]]:
    """Each public method, and each name in its return annotation, from the source: some imports are for types only."""
    for node in ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_") and node.returns:
            for part in ast.walk(node.returns):
                if isinstance(part, ast.Name | ast.Attribute):
                    yield node.name, part.id if isinstance(part, ast.Name) else part.attr


def foreign_names(cls: type) -> set[str]:
    """The names that the module of a class imports from other packages."""
    source = ast.parse(inspect.getsource(sys.modules[cls.__module__]))
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports if node.module and "hatbox" not in node.module for alias in node.names}


@functools.cache
def class_names_of_hatbox() -> frozenset[str]:
    sources = (file.read_text("utf-8") for file in Path(hatbox.__path__[0]).rglob("*.py"))
    return frozenset(
        node.name for source in sources for node in ast.parse(source).body if isinstance(node, ast.ClassDef)
    )


@pytest.mark.parametrize(
    "name",
    [
        "ChromiumRunner",
        "CookieStore",
        "CookieStores",
        "EngineRunner",
        "Extensions",
        "Identities",
        "Profile",
        "SyncIdentities",
        "SyncProfile",
        "SyncTabs",
        "Tabs",
    ],
)
def test_everything_that_a_public_method_returns_is_exported(name: str) -> None:
    cls = getattr(hatbox, name)
    missing = class_names_of_hatbox() - foreign_names(cls) - set(dir(hatbox))
    assert [each for each in returned_names(cls) if each[1] in missing] == []
