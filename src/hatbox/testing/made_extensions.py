"""Makes the folder of an extension from its manifest and the texts of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["make_extension"]

_BACKGROUND: Final = "background.js"


def make_extension(folder: Path, manifest: Mapping[str, Any], background: str, files: Mapping[str, str]) -> Path:
    """Write an extension into a new folder. What the manifest lacks is added: version, name, id and background."""
    keys: dict[str, Any] = {"manifest_version": 2, "name": folder.name, "version": "1.0", **manifest}
    if "applications" not in keys and "browser_specific_settings" not in keys:
        keys["browser_specific_settings"] = {"gecko": {"id": f"{folder.name}@test.example"}}
    if background and "background" not in keys:
        keys["background"] = {"scripts": [_BACKGROUND]}
    texts = {"manifest.json": json.dumps(keys), **({_BACKGROUND: background} if background else {}), **files}
    for name, text in texts.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"the path of a file must be inside the extension: {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
