"""The engines that the scenarios run on, by name. To plug one in, add an Adapter to ADAPTERS.

Imports of an engine's own packages belong inside of the methods: the programs of other engines import this module too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import hatbox
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError


class Adapter:
    """What a scenario has to know of an engine; this one is the HTTP engine."""

    name = "http"

    def missing(self) -> str:
        """Why it cannot run on this machine; empty if it can."""
        return ""

    def run(self, profile: hatbox.Profile, identities: Sequence[str] | None = None) -> EngineRunner:
        """The engine, to be entered."""
        return profile.http_engine(identities=identities)

    def pages(self, runner: EngineRunner) -> set[int] | None:
        """The tabs that have a page now; None for an engine that has nothing to close."""
        return None

    async def synced(self, runner: EngineRunner) -> None:
        """Wait until cookies that were changed outside are known in the engine, and those changed in it outside."""


class Chromium(Adapter):
    """A real one, without windows."""

    name = "chromium"

    def missing(self) -> str:
        from hatbox.engines.chromium.launch import find_browser

        try:
            find_browser()
        except EngineError as error:
            if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
                raise
            return str(error)
        return ""

    def run(self, profile: hatbox.Profile, identities: Sequence[str] | None = None) -> EngineRunner:
        return profile.chromium(headless=True, identities=identities, attach=False)

    def pages(self, runner: EngineRunner) -> set[int] | None:
        from hatbox.engines.chromium.chromium_runner import ChromiumRunner

        assert isinstance(runner, ChromiumRunner)
        return runner.engine.tabs

    async def synced(self, runner: EngineRunner) -> None:
        from hatbox.engines.chromium.chromium_runner import ChromiumRunner

        assert isinstance(runner, ChromiumRunner)
        await runner.wait_until_synced()


ADAPTERS: Final[dict[str, Adapter]] = {adapter.name: adapter for adapter in (Adapter(), Chromium())}
