"""Makes the folder of an extension from its manifest and the texts of its files, and runs it again from there."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension

__all__ = ["ExtensionSource", "called", "make_extension"]

_BACKGROUND: Final = "background.js"
_METHOD: Final = re.compile(r"""(async\s+)?(?!function\b)(?:[\w$]+|"[^"]*"|'[^']*')\s*(?=\([^)]*\)\s*\{)""")


class ExtensionSource(NamedTuple):
    """Where an extension under test comes from."""

    run: Callable[..., Awaitable[Extension]]
    """Runs the extension, with the options of the test and further ones."""
    install: Callable[[], Awaitable[object]] | None
    """Installs its current files in the profile; None for a temporary extension."""
    made_in: Path | None
    """The folder that the test has made for it; None if it is a folder or file of the user."""

    def rewrite(self, manifest: Mapping[str, Any], background: str, files: Mapping[str, Any]) -> None:
        """Replace all files of an extension that the test has made."""
        if self.made_in is None:
            raise TypeError("only an extension made of texts can be upgraded. Change its files, then call reload()")
        shutil.rmtree(self.made_in)
        make_extension(self.made_in, manifest, background, files)


def called(function: str, *arguments: Any) -> str:
    """The source of a script that calls a JavaScript function with these values, as tests of Firefox do.

    `function` is the source of a function or arrow function, or of a method such as `"page.js"() { … }`.
    """
    source = function.strip().rstrip(";,")
    values = ", ".join(map(json.dumps, arguments))
    if method := _METHOD.match(source):
        return f"({method[1] or ''}function {source[method.end() :]})({values});"
    return f"({source})({values});"


def make_extension(folder: Path, manifest: Mapping[str, Any], background: str, files: Mapping[str, Any]) -> Path:
    """Write an extension into a new folder. What the manifest lacks is added: version, name, id and background.

    A file that is not a text is written as JSON.
    """
    keys: dict[str, Any] = {"manifest_version": 2, "name": folder.name, "version": "1.0", **manifest}
    if "applications" not in keys and "browser_specific_settings" not in keys:
        keys["browser_specific_settings"] = {"gecko": {"id": f"{folder.name}@test.example"}}
    declared = keys.get("background", {})
    if background and isinstance(declared, dict) and declared.keys().isdisjoint(("scripts", "page", "service_worker")):
        keys["background"] = {"scripts": [_BACKGROUND], **declared}
    texts = {"manifest.json": keys, **({_BACKGROUND: background} if background else {}), **files}
    for name, content in texts.items():
        text = content if isinstance(content, str) else json.dumps(content)
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"the path of a file must be inside the extension: {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
