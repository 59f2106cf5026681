"""Joins the modules of the page into one script: a browser that requests fifty files shows the page five times later.

Supports only what the modules use: imports of names or of a namespace, exported functions, classes and constants, and
import() of a relative path. Modules run once, when they are first imported. `import.meta.url` is that of the script.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Final

from hatbox.extensions.runtime.module_bundle import exported_names, without_comments

__all__ = ["page_script"]

_CLASSIC_SCRIPT: Final = "early_theme.js"  # runs before the page is drawn

_IMPORT: Final = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "(\.[\w./]*)";$', re.MULTILINE)
_DYNAMIC_IMPORT: Final = re.compile(r'\bimport\(([`"])(\.[^`"]*)\1\)')
_EXPORTED_LIST: Final = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)
_UNSUPPORTED: Final = re.compile(r"^(?:import|export|await)\b.*|^\w.*= await\b.*", re.MULTILINE)
_START: Final = """const $exports = new Map();
const $require = path => {
  if (!$exports.has(path)) $exports.set(path, $modules[path]());
  return $exports.get(path);
};
const $import = async path => $require(path);
"""


def page_script(folder: Path, entry: str) -> str:
    """The modules of a folder as one module, which runs `entry`."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.js") if path.name != _CLASSIC_SCRIPT)
    modules = "".join(f"{json.dumps(path)}: () => {{\n{_body(folder, path)}}},\n" for path in paths)
    return f"{_START}const $modules = {{\n{modules}}};\n$require({json.dumps(entry)});\n"


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
