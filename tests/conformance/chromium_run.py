"""Runs the script of a case in the background of an extension of Hatbox, with pages in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hatbox
from tests.conformance.background_cases import Case
from tests.conformance.content_scripts.site import FrameSite
from tests.extensions.made import make


async def run_case(case: Case, folder: Path, browser: str, files: Mapping[str, Any]) -> list[list[Any]]:
    """The answers of the probes."""
    with FrameSite() as site:
        background = f"globalThis.answers = (async () => {{\n{case.body(site)}\n}})();"
        made = make(
            folder, background, name="probe", manifest_version=case.version, files=files, **case.keys_in_hatbox()
        )
        async with (
            asyncio.timeout(280),
            hatbox.open(folder / "profile.db") as profile,
            profile.chromium(headless=True, browser=browser),
        ):
            extension = await profile.extensions.start(made, idle_seconds=600)
            log: list[list[Any]] = await extension.evaluate("answers", timeout=240)
            return log
