"""One extension at work: its scripts in their sandbox, what they may do, and when they sleep."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from hatbox.api.browser import Browser
from hatbox.api.caller import Decide, ExtensionCaller
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.grants import NONE, ExtensionPermissions, Permissions
from hatbox.extensions.background import Background
from hatbox.extensions.event_page import ExtensionHost
from hatbox.extensions.manifest import Manifest
from hatbox.extensions.package import Package
from hatbox.extensions.runtime import Boot, Exit, Limits, LogEntry, Runtime, describe
from hatbox.extensions.runtime.supervisor import Supervisor

__all__ = ["Extension"]

logger = logging.getLogger("hatbox.extensions")

_IDLE_SECONDS: Final = 30.0  # as in Firefox
_NO_BACKGROUND: Final = Background((), persistent=True)


class Extension:
    """An extension. It runs from start() to stop(); one whose background is not persistent sleeps in between."""

    def __init__(
        self,
        package: Package,
        manifest: Manifest,
        dispatcher: Dispatcher,
        *,
        granted: Permissions = NONE,
        limits: Limits | None = None,
        inspect: bool = False,
        idle_seconds: float = _IDLE_SECONDS,
        decide: Decide | None = None,
        on_log: Callable[[LogEntry], None] | None = None,
        on_exit: Callable[[Exit, float | None], None] | None = None,
    ) -> None:
        self.package = package
        self.manifest = manifest
        """What its manifest says."""
        self.grants = ExtensionPermissions(manifest.required, manifest.optional, granted)
        """What it may do, and may ask for."""
        self.caller = ExtensionCaller(
            manifest.id, manifest.uuid, manifest.for_scripts(), self.grants, manifest.locales, decide
        )
        self.browser = Browser(dispatcher, self.caller)
        """`browser` as its scripts see it, for Python."""
        self._limits = limits or Limits()
        self._inspect = inspect
        self._idle_seconds = idle_seconds
        self._host = ExtensionHost(dispatcher, self.caller, package.read, self.wake, on_log)
        self._supervisor = Supervisor(self._run, on_exit=on_exit or self._report)
        self._background = manifest.background or _NO_BACKGROUND
        self._waking = asyncio.Lock()
        self._wanted = False
        self._idling: asyncio.Task[None] | None = None
        self._starts: list[tuple[str, Sequence[Any]]] = []

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.manifest.id

    @property
    def runtime(self) -> Runtime | None:
        """Its scripts as they run now; None while they sleep, or are down."""
        return self._supervisor.runtime

    async def start(self, *events: tuple[str, Sequence[Any]]) -> None:
        """Run its background. These events are told to it afterwards: that it was installed, that a session begins."""
        self._wanted = True
        self._starts = list(events)
        await self.wake()

    async def stop(self) -> None:
        """End it."""
        self._wanted = False
        self._host.keeps_listening = False
        self._host.forget_sleepers()
        if self._idling is not None:
            self._idling.cancel()
        async with self._waking:
            await self._supervisor.stop()
        await self._host.close()

    async def wake(self) -> None:
        """Run its background unless it runs."""
        async with self._waking:
            if self._wanted and self._supervisor.runtime is None:
                self._supervisor = Supervisor(self._run, on_exit=self._supervisor.on_exit)
                await self._supervisor.start()
                if not self._background.persistent and not self._inspect:
                    self._idling = asyncio.ensure_future(self._sleep_when_idle())

    async def sleep(self) -> None:
        """Let it sleep until one of its events happens."""
        runtime = self.runtime
        if runtime is None:
            return
        with contextlib.suppress(TimeoutError):
            await runtime.dispatch_event("runtime.onSuspend", [], within=1.0)
        async with self._waking:
            self._host.keeps_listening = True
            try:
                await self._supervisor.stop()
            finally:
                self._host.keeps_listening = False

    async def evaluate(self, source: str, *, inspect: bool = False, within: float | None = None) -> Any:
        """Run an expression, or statements, in the scope of its background, which is woken for it."""
        await self.wake()
        runtime = self.runtime
        if runtime is None:
            raise RuntimeError(f"{self.id} is not running")
        return await runtime.evaluate(source, inspect=inspect, within=within)

    def permissions_changed(self) -> None:
        """Show its scripts the namespaces that they may use now."""
        if self.runtime is not None:
            self.runtime.show(describe(self.caller))

    async def _run(self) -> Runtime:
        manifest = self.manifest
        boot = Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=self.caller.manifest,
            description=describe(self.caller),
            data={"i18n": manifest.locales.for_runtime()},
            page=self._background.page,
        )
        runtime = await Runtime.start(
            self._host, boot, self._limits, inspect=self._inspect, unsafe_eval=manifest.allows_eval
        )
        self._supervisor.runtime = runtime
        for script in self._background.scripts:
            if script.module:
                await runtime.run_module(script.file)
            else:
                await runtime.run_scripts([script.file])
        runtime.loaded()
        starts, self._starts = self._starts, []
        for path, arguments in starts:
            await runtime.dispatch_event(path, arguments, wait=False)
        return runtime

    async def _sleep_when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while (runtime := self.runtime) is not None:
            left = runtime.last_activity + self._idle_seconds - loop.time()
            if left <= 0 and not runtime.calls_under_way:
                self._idling = None
                await self.sleep()
                return
            await asyncio.sleep(max(left, 0.05))

    def _report(self, ended: Exit, pause: float | None) -> None:
        again = f"it starts again in {pause:g} s" if pause is not None else "it is not started again"
        logger.error("%s: %s; %s", self.id, ended, again)
