"""Starts a runtime again after it has crashed, after a pause that grows, and not for ever. Knows nothing of scripts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime.bridge import Runtime
from hatbox.extensions.runtime.exit_reason import Exit

__all__ = ["BackOff", "Supervisor"]

logger = logging.getLogger("hatbox.extensions")


class BackOff(NamedTuple):
    """How long to wait before each start after a crash, in seconds, and when to give up."""

    first: float = 0.5
    factor: float = 2.0
    max_delay: float = 60.0
    steady: float = 60.0
    """Who has run for so long starts with a clean sheet."""
    max_crashes: int = 6
    """Crashes in a row after which there is no other start."""

    def pause(self, crashes: int) -> float:
        """How long to wait after so many crashes in a row."""
        return min(self.first * self.factor ** (crashes - 1), self.max_delay)


class Supervisor:
    """Keeps one extension running. `start` starts it, scripts and all; `on_exit` is told of every end that was not
    asked for, with the seconds until the next start, or None when there will be none."""

    def __init__(
        self,
        start: Callable[[], Awaitable[Runtime]],
        back_off: BackOff | None = None,
        on_exit: Callable[[Exit, float | None], None] = lambda *_: None,
    ) -> None:
        self.runtime: Runtime | None = None
        """What runs now; None while it is down."""
        self.crashes = 0
        """How often it crashed in a row."""
        self._start = start
        self._back_off = back_off or BackOff()
        self.on_exit = on_exit
        self._keeping: asyncio.Task[None] | None = None

    @property
    def restarting(self) -> bool:
        """Whether it has crashed, and will be started again."""
        return self.runtime is None and self._keeping is not None and not self._keeping.done()

    async def start(self, *, has_run: bool = False) -> Runtime:
        """Start it. What goes wrong is raised; with one that has run before it is a crash as well, and no end."""
        if self._keeping is not None:
            raise RuntimeError("it is already supervised")
        try:
            runtime = self.runtime = await self._start()
        except ExtensionTerminated as error:
            self.runtime = None
            if has_run:
                self._keeping = asyncio.ensure_future(self._keep_after(_not_started(error)))
            raise
        self._keeping = asyncio.ensure_future(self._supervise(runtime))
        return runtime

    async def stop(self) -> None:
        """End it, and do not start it again."""
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            keeping.cancel()
            await asyncio.wait([keeping])
        runtime, self.runtime = self.runtime, None
        if runtime is not None:
            await runtime.stop()

    async def _supervise(self, runtime: Runtime) -> None:
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            ended = await asyncio.shield(runtime.exited)
            self.runtime = None
            if ended.reason == "stopped":
                return
            if loop.time() - started > self._back_off.steady:
                self.crashes = 0
            again = await self._restart(ended)
            if again is None:
                return
            runtime = self.runtime = again

    async def _keep_after(self, ended: Exit) -> None:
        runtime = self.runtime = await self._restart(ended)
        if runtime is not None:
            await self._supervise(runtime)

    async def _restart(self, ended: Exit) -> Runtime | None:
        """Start it again; None when it has crashed too often."""
        while True:
            self.crashes += 1
            if self.crashes >= self._back_off.max_crashes:
                self.on_exit(ended, None)
                return None
            pause = self._back_off.pause(self.crashes)
            self.on_exit(ended, pause)
            await asyncio.sleep(pause)
            try:
                return await self._start()
            except ExtensionTerminated as error:
                self.runtime = None
                ended = _not_started(error)


def _not_started(error: ExtensionTerminated) -> Exit:
    return Exit("crashed: it did not start", str(error))
