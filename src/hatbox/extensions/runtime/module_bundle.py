"""Joins modules of js/ into one script expression, which an extension process compiles when it first needs it.

Each module that Deno loads at the start costs more than a millisecond, so parts that few extensions use are sent as
text. Supports only what they use: `import {…} from "./file.js"`, and exported functions, classes and constants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["indexed_db_source"]

_FOLDER: Final = Path(__file__).parent / "js"
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?:async )?(?:function|class|const) (\w+|\[[^\]]*\])", re.MULTILINE)
_COMMENT: Final = re.compile(r"^\s*//.*\n", re.MULTILINE)


@cache
def indexed_db_source() -> str:
    """IndexedDB: a function of the modules that boot.mjs has loaded, which returns the exports of indexed_db.js."""
    return bundle("indexed_db", ("primordials", "protocol", "values"))


def bundle(entry: str, loaded: Sequence[str]) -> str:
    """A function expression whose parameters are the exports of the loaded modules, in an object each."""
    order: dict[str, str] = {}
    _collect(entry, order, frozenset(loaded))
    modules = "".join(f"const ${name} = (() => {{\n{body}}})();\n" for name, body in order.items())
    parameters = ", ".join(f"${name}" for name in loaded)
    return f'(({parameters}) => {{\n"use strict";\n{modules}return ${entry};\n}})'


def _collect(name: str, order: dict[str, str], loaded: frozenset[str]) -> None:
    """Add a module to the order, after the modules that it imports."""
    source = (_FOLDER / f"{name}.js").read_text("utf-8")
    for match in _IMPORT.finditer(source):
        if match[2] not in order and match[2] not in loaded:
            _collect(match[2], order, loaded)
    order[name] = _converted(name, source)


def _converted(name: str, source: str) -> str:
    """The body of a function that returns the exports of a module."""
    if unsupported := re.search(r"^(import|export)\b.*", _EXPORT.sub("", _IMPORT.sub("", source)), re.MULTILINE):
        raise ValueError(f"{name}.js: the bundle does not support: {unsupported[0]}")
    exported = [local for match in _EXPORT.finditer(source) for local in re.findall(r"\w+", match[1])]
    body = _IMPORT.sub(lambda match: f"const {{{match[1].strip().removesuffix(',')}}} = ${match[2]};", source)
    body = _COMMENT.sub("", re.sub(r"^export ", "", body, flags=re.MULTILINE))
    return f"{body.rstrip()}\nreturn {{__proto__: null, {', '.join(exported)}}};\n"
