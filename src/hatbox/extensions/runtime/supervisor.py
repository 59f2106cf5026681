"""Restarts a runtime after a crash, with exponential backoff and a maximum number of crashes."""

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
    """The delays before restarts, in seconds, and the maximum number of crashes."""

    first: float = 0.5
    factor: float = 2.0
    max_delay: float = 60.0
    steady: float = 60.0
    """After running for so long, earlier crashes are not counted."""
    max_crashes: int = 6
    """Consecutive crashes after which there is no restart."""

    def delay(self, crashes: int) -> float:
        """The delay after a number of consecutive crashes."""
        return min(self.first * self.factor ** (crashes - 1), self.max_delay)


class Supervisor:
    """Restarts the runtime of one extension. `start` starts it and runs its scripts.

    `on_exit` is called for each crash, with the seconds until the restart, or None if there is none.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[Runtime]],
        back_off: BackOff | None = None,
        on_exit: Callable[[Exit, float | None], None] = lambda *_: None,
    ) -> None:
        self.runtime: Runtime | None = None
        """The current runtime; None while it is stopped or has crashed."""
        self.crashes = 0
        """The number of consecutive crashes."""
        self._start = start
        self._back_off = back_off or BackOff()
        self.on_exit = on_exit
        self._task: asyncio.Task[None] | None = None

    @property
    def restarting(self) -> bool:
        """Whether it has crashed, and will be restarted."""
        return self.runtime is None and self._task is not None and not self._task.done()

    async def start(self, *, has_run: bool = False) -> Runtime:
        """Start it. Raises ExtensionTerminated. If it `has_run` before, that is a crash, and it will be restarted."""
        if self._task is not None:
            raise RuntimeError("already started")
        try:
            runtime = self.runtime = await self._start()
        except ExtensionTerminated as error:
            self.runtime = None
            if has_run:
                self._task = asyncio.ensure_future(self._restart_and_supervise(_not_started(error)))
            raise
        self._task = asyncio.ensure_future(self._supervise(runtime))
        return runtime

    async def stop(self) -> None:
        """End it, without a restart."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
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
            restarted = await self._restart(ended)
            if restarted is None:
                return
            runtime = self.runtime = restarted

    async def _restart_and_supervise(self, ended: Exit) -> None:
        runtime = self.runtime = await self._restart(ended)
        if runtime is not None:
            await self._supervise(runtime)

    async def _restart(self, ended: Exit) -> Runtime | None:
        """Restart it. Returns None if it has crashed too often."""
        while True:
            self.crashes += 1
            if self.crashes >= self._back_off.max_crashes:
                self.on_exit(ended, None)
                return None
            delay = self._back_off.delay(self.crashes)
            self.on_exit(ended, delay)
            await asyncio.sleep(delay)
            try:
                return await self._start()
            except ExtensionTerminated as error:
                self.runtime = None
                ended = _not_started(error)


def _not_started(error: ExtensionTerminated) -> Exit:
    return Exit("crashed: it did not start", str(error))
