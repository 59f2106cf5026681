"""Joins the modules of the page into two scripts: a browser that requests eighty files shows the page five times later.

The first script is small. It runs before the page is parsed, and requests the data while the second one is loaded.
Supports only what the modules use: imports of names or of a namespace, exported functions, classes and constants, and
import() of a relative path. Modules run once, when they are first imported, in whichever script.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Final

from hatbox.extensions.runtime.module_bundle import exported_names, without_comments

__all__ = ["page_script"]

_IMPORT: Final = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "(\.[\w./]*)";$', re.MULTILINE)
_DYNAMIC_IMPORT: Final = re.compile(r'\bimport\(([`"])(\.[^`"]*)\1\)')
_EXPORTED_LIST: Final = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)
_UNSUPPORTED: Final = re.compile(r"^(?:import|export|await)\b.*|^\w.*= await\b.*", re.MULTILINE)
_START: Final = """"use strict";
const $exports = new Map();
const $require = path => {
  if (!$exports.has(path)) $exports.set(path, $modules[path]());
  return $exports.get(path);
};
const $import = async path => $require(path);
"""


def page_script(folder: Path, entry: str, after: str = "") -> str:
    """The classic script that runs the module `entry`, with all that it imports.

    With `after`, the module of a script that runs before: the rest of the folder, which may use that script's modules.
    """
    start = f"$require({json.dumps(entry)});\n"
    if not after:
        return f"{_START}const $modules = {_modules(folder, _imported(folder, entry))};\n{start}"
    all_paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*.js")}
    return f"Object.assign($modules, {_modules(folder, all_paths - _imported(folder, after))});\n{start}"


def _imported(folder: Path, entry: str) -> set[str]:
    """A module and all that it imports, directly or not."""
    found: set[str] = set()
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            source = (folder / path).read_text("utf-8")
            waiting += [_resolved(path, match[3]) for match in _IMPORT.finditer(source)]
    return found


def _modules(folder: Path, paths: set[str]) -> str:
    """An object with a function for each module."""
    return "".join(
        ["{\n", *(f"{json.dumps(path)}: () => {{\n{_body(folder, path)}}},\n" for path in sorted(paths)), "}"]
    )


def _body(folder: Path, path: str) -> str:
    """The body of a function that runs a module and returns its exports."""
    source = (folder / path).read_text("utf-8")
    listed = [name for match in _EXPORTED_LIST.finditer(source) for name in _names(match[1])]
    exported = ", ".join([*exported_names(source), *listed])
    body = _IMPORT.sub(lambda match: _require(path, match), _EXPORTED_LIST.sub("", source))
    body = _DYNAMIC_IMPORT.sub(lambda match: f"$import({match[1]}{_resolved(path, match[2])}{match[1]})", body)
    body = re.sub(r"^export (?=async function|function|class|const)", "", body, flags=re.MULTILINE)
    if unsupported := _UNSUPPORTED.search(body):
        raise ValueError(f"{path}: not supported in a module of the page: {unsupported[0]}")
    return f"{without_comments(body).rstrip()}\nreturn {{{exported}}};\n"


def _require(path: str, match: re.Match[str]) -> str:
    bound = match[2] or f"{{{match[1].replace(' as ', ': ')}}}"
    return f"const {bound} = $require({json.dumps(_resolved(path, match[3]))});"


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
