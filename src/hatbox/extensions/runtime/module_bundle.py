"""Joins modules of js/ into one script: for documents of Chromium, and for parts that Deno compiles when they are used.

Each module that Deno loads at the start costs more than a millisecond, so parts that few extensions use are sent as
text. Supports only what the modules use: `import {…} from "./file.js"`, and exported functions, classes and constants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["MODULE_FOLDER", "exported_names", "indexed_db_source", "modules_text", "without_comments"]

MODULE_FOLDER: Final = Path(__file__).parent / "js"
"""The folder of the modules."""

_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?:async )?(?:function\*?|class|const) (\w+|\{[^}]*\}|\[[^\]]*\])", re.MULTILINE)
_COMMENT: Final = re.compile(r"^\s*//.*\n", re.MULTILINE)


@cache
def indexed_db_source() -> str:
    """IndexedDB: a function of the modules that boot.mjs has loaded, which returns the exports of indexed_db.js."""
    return bundle("indexed_db", ("primordials", "protocol", "values"))


def bundle(entry: str, loaded: Sequence[str]) -> str:
    """A function expression whose parameters are the exports of the loaded modules, in an object each."""
    parameters = ", ".join(f"${name}" for name in loaded)
    return f'(({parameters}) => {{\n"use strict";\n{modules_text(entry, loaded)}return ${entry};\n}})'


def modules_text(entry: str, loaded: Sequence[str] = ()) -> str:
    """Declares a constant `$name` with the exports of a module, and one for each module that it imports.

    Those of the modules in `loaded` exist already.
    """
    order: dict[str, str] = {}
    _collect(entry, order, frozenset(loaded))
    return "".join(f"const ${name} = (() => {{\n{body}}})();\n" for name, body in order.items())


def without_comments(source: str) -> str:
    """The source without the lines that are comments."""
    return _COMMENT.sub("", source)


def exported_names(source: str) -> list[str]:
    """The names of the functions, classes and constants that a module exports where it declares them."""
    return [local for match in _EXPORT.finditer(source) for local in _bound_names(match[1])]


def _collect(name: str, order: dict[str, str], loaded: frozenset[str]) -> None:
    """Add a module to the order, after the modules that it imports."""
    source = (MODULE_FOLDER / f"{name}.js").read_text("utf-8")
    for match in _IMPORT.finditer(source):
        if match[2] not in order and match[2] not in loaded:
            _collect(match[2], order, loaded)
    order[name] = _converted(name, source)


def _converted(name: str, source: str) -> str:
    """The body of a function that returns the exports of a module."""
    if unsupported := re.search(r"^(import|export)\b.*", _EXPORT.sub("", _IMPORT.sub("", source)), re.MULTILINE):
        raise ValueError(f"{name}.js: the bundler does not support: {unsupported[0]}")
    exported = exported_names(source)
    body = _IMPORT.sub(lambda match: f"const {{{match[1].replace(' as ', ': ')}}} = ${match[2]};", source)
    body = without_comments(re.sub(r"^export ", "", body, flags=re.MULTILINE))
    return f"{body.rstrip()}\nreturn {{__proto__: null, {', '.join(exported)}}};\n"


def _bound_names(pattern: str) -> list[str]:
    """The names that a declaration binds: `name`, `{a, b: c}` or `[a, b]`."""
    return [part.split(":")[-1].strip() for part in pattern.strip("{}[]").split(",") if part.strip()]
