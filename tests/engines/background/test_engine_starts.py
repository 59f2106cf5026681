"""Tabs that are opened while an engine starts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.background.engine_starts import EngineStarts
from hatbox.engines.selection import EngineSelection


def test_a_tab_whose_caller_has_gone_before_it_was_opened_is_not_opened(tmp_path: Path) -> None:
    async def run() -> None:
        called, proceed, opened = asyncio.Event(), asyncio.Event(), []

        async def open_tabs(_: str, urls: list[str], **__: Any) -> None:
            called.set()
            await proceed.wait()  # queries before the tab is opened
            opened.append(urls)

        async with hatbox.open(tmp_path / "profile.db") as profile:
            starts = EngineStarts(profile.store, open_tabs, lambda *_: pytest.fail("no engine is needed"))  # type: ignore[arg-type]
            selection = EngineSelection()
            call = asyncio.ensure_future(starts.open_tab("firefox-default", "http://site.example/", selection))
            await called.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            proceed.set()
            await starts.close()
            assert opened == [] and not starts.current

    asyncio.run(run())
