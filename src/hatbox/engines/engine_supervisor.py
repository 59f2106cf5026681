"""Starts an engine, and restarts it after a crash, with growing delays."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from hatbox.engines.base import Engine, EngineDelegate

__all__ = ["EngineSupervisor"]

logger = logging.getLogger("hatbox.engines")

_RESTART_DELAYS: Final = (0.1, 0.5, 2, 8, 30)  # seconds before each restart after a crash
_STABLE_AFTER: Final = 60  # seconds after which earlier crashes no longer count


class EngineSupervisor:
    """The life of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.running = asyncio.Event()
        self.crash_count = 0
        """The number of crashes so far."""
        self._engine = engine
        self._recent_crashes = 0
        self._started = 0.0

    async def start(self, delegate: EngineDelegate) -> None:
        """Start the engine."""
        await self._engine.start(delegate)
        self._started = time.monotonic()
        self.running.set()

    async def stop(self) -> None:
        """Stop the engine."""
        self.running.clear()
        await self._engine.stop()

    async def abandon(self) -> None:
        """Stop the engine at once, without saving."""
        self.running.clear()
        await self._engine.abandon()

    def crashed(self, reason: str) -> None:
        """Record a crash. The caller then runs restart()."""
        logger.warning("%s engine crashed (%s); restarting", self._engine.name, reason)
        self.running.clear()
        self.crash_count += 1
        if time.monotonic() - self._started > _STABLE_AFTER:
            self._recent_crashes = 0

    def interrupted(self, reason: str) -> None:
        """Record that the engine needs a restart. The caller then runs restart()."""
        logger.info("%s engine: restarting: %s", self._engine.name, reason)
        self.running.clear()
        self.crash_count += 1

    async def restart(self, delegate: EngineDelegate) -> None:
        """Start the engine again, until it succeeds."""
        while not self.running.is_set():
            await asyncio.sleep(_RESTART_DELAYS[min(self._recent_crashes, len(_RESTART_DELAYS) - 1)])
            self._recent_crashes += 1
            try:
                await self.start(delegate)
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed
                logger.error("%s engine: start failed: %s", self._engine.name, error)
