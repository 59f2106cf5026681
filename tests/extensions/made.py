"""Extensions of a few lines, made for a test and run as a user runs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension

__all__ = ["make", "run_made"]


def make(
    folder: Path,
    background: str = "",
    *,
    name: str = "made",
    files: Mapping[str, str] | None = None,
    persistent: bool = True,
    **manifest: Any,
) -> Path:
    """The folder of an extension with this background script; `manifest` are further keys of its manifest."""
    made = folder / name
    keys = {
        "manifest_version": 2,
        "name": name,
        "version": "1",
        "browser_specific_settings": {"gecko": {"id": f"{name}@example.org"}},
        "background": {"scripts": ["background.js"], "persistent": persistent},
        **manifest,
    }
    contents = {"manifest.json": json.dumps(keys), "background.js": background, **(files or {})}
    for path, text in contents.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text, "utf-8")
    return made


def run_made(
    tmp_path: Path,
    use: Callable[[Profile, Extension], Awaitable[None]],
    background: str = "",
    *,
    files: Mapping[str, str] | None = None,
    start: Mapping[str, Any] | None = None,
    **manifest: Any,
) -> None:
    """Run an extension in a profile of its own, and use both; `start` is handed to extensions.start()."""

    async def main() -> None:
        folder = make(tmp_path, background, files=files, **manifest)
        async with asyncio.timeout(180), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile, await profile.extensions.start(folder, **(start or {})))

    asyncio.run(main())
