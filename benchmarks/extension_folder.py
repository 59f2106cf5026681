"""Writes extensions for the benchmarks of browsers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write_extension"]


def write_extension(folder: Path, files: dict[str, str], **manifest: Any) -> Path:
    """Write an extension whose background is `background.js`, if it has one. Returns the folder, which is made."""
    whole: dict[str, Any] = {
        "manifest_version": 2,
        "name": folder.name,
        "version": "1",
        "browser_specific_settings": {"gecko": {"id": f"{folder.name}@example.org"}},
        **({"background": {"scripts": ["background.js"]}} if "background.js" in files else {}),
        **manifest,
    }
    folder.mkdir(parents=True)
    for path, text in {"manifest.json": json.dumps(whole), **files}.items():
        (folder / path).write_text(text, "utf-8")
    return folder
