"""Runs modules of the manager page that need no page in Deno."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import hatbox.ui
from tests.in_deno import value_in_deno

__all__ = ["value_of", "value_with"]

_STATIC: Final = Path(hatbox.ui.__file__).parent / "static"


def value_of(module: str, names: str, body: str) -> Any:
    """The value of the body of an async function, which uses these names of a module."""
    return value_in_deno(f'import {{{names}}} from "{(_STATIC / module).as_uri()}";', body)


def value_with(folder: Path, stubs: Mapping[str, str], module: str, names: str, body: str) -> Any:
    """The same with other modules in place of some, such as api.js without a server."""
    shutil.copytree(_STATIC, folder, ignore=shutil.ignore_patterns("*.css", "*.html", *stubs))
    for name, source in stubs.items():
        (folder / name).write_text(source, "utf-8")
    return value_in_deno(f'import {{{names}}} from "{(folder / module).as_uri()}";', body)
