"""One extension at work: its scripts in their sandbox, its pages, what they may do, and when they sleep."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from hatbox.api.caller import ExtensionCaller, PermissionPrompt
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import ExtensionTerminated
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extensions.event_page_host import ExtensionHost
from hatbox.extensions.extension_page import ExtensionPage
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.package.background import Background
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.runtime import Boot, DenoProcess, Exit, LogEntry, Runtime, RuntimeLimits, describe
from hatbox.extensions.runtime.supervisor import Supervisor
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.message_router import MessageRouter

__all__ = ["Extension"]

logger = logging.getLogger("hatbox.extensions")

_IDLE_SECONDS: Final = 30.0  # as in Firefox
_SUSPEND_SECONDS: Final = 5.0  # and so is this: how long listeners of onSuspend may take
_FACE: Final = "_generated_hatbox_page.html"
_NO_BACKGROUND: Final = Background((), persistent=True)


class Extension:
    """An extension. It runs from start() to stop(); one whose background is not persistent sleeps in between."""

    def __init__(
        self,
        package: Package,
        manifest: Manifest,
        dispatcher: Dispatcher,
        messages: MessageRouter,
        *,
        granted: Permissions = NONE,
        limits: RuntimeLimits | None = None,
        inspect: bool = False,
        idle_seconds: float = _IDLE_SECONDS,
        decide: PermissionPrompt | None = None,
        on_reload: Callable[[], None] = lambda: None,
        prepare: Callable[[], Awaitable[None]] | None = None,
        child: DenoProcess | None = None,
        on_run: Callable[[], None] = lambda: None,
        local_storage: LocalStorage | None = None,
        area: str | None = None,
        on_log: Callable[[LogEntry], None] | None = None,
        on_exit: Callable[[Exit, float | None], None] | None = None,
    ) -> None:
        self.package = package
        self.area = area or manifest.id
        """The data area: the name under which the profile stores its data."""
        self.manifest = manifest
        """What its manifest says."""
        self.grants = ExtensionPermissions(manifest.required, manifest.optional, granted)
        """What it may do, and may ask for."""
        self.caller = ExtensionCaller(
            manifest.id, manifest.uuid, manifest.for_scripts(), self.grants, manifest.locales, decide, area=self.area
        )
        self.reload = on_reload
        """Start it anew, from its files: what runtime.reload() does."""
        self._dispatcher = dispatcher
        self._messages = messages
        self._pages: list[ExtensionPage] = []
        self._python_page = self._page(
            ExtensionContext(self.id, manifest.base_url + _FACE, manifest.base_url[:-1], kind="TAB")
        )
        self.browser = self._python_page.browser
        """`browser` as its scripts see it, for Python: as a page of it, so that its messages reach the background."""
        self._limits = limits or RuntimeLimits()
        self._inspect = inspect
        self._idle_seconds = idle_seconds
        self._prepare = prepare
        """Comes before its scripts, whenever they are run."""
        self._child = child
        """A process that was started ahead, for the first run."""
        self._on_run = on_run
        """Told when its scripts have begun to run: its process has the first of them. It may be told again."""
        self._local_storage = local_storage
        self._host = ExtensionHost(dispatcher, self.caller, package.read, self.wake, on_log, local_storage)
        self._supervisor = Supervisor(self._run, on_exit=on_exit or self._report)
        self._on_exit = on_exit
        self._background = manifest.background or _NO_BACKGROUND
        self._waking = asyncio.Lock()
        self._should_run = False
        self._has_run = False
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
        self._should_run = True
        self._has_run = False
        self._starts = list(events)
        await self.wake()

    async def stop(self) -> None:
        """End it."""
        await self._end()
        self._python_page.close()
        await self._host.close()

    async def restart(
        self, package: Package, manifest: Manifest, granted: Permissions, *events: tuple[str, Sequence[Any]]
    ) -> None:
        """End it, and run it as it is now. All its pages are closed by that."""
        await self._end()
        self.package, self.manifest = package, manifest
        self._host.read_file = package.read
        self._background = manifest.background or _NO_BACKGROUND
        held = self.grants.effective
        held.clear()
        self.grants = ExtensionPermissions(manifest.required, manifest.optional, granted, held)
        for caller in (self.caller, self._python_page.caller):
            caller.manifest, caller.grants, caller.texts = manifest.for_scripts(), self.grants, manifest.locales
        await self.start(*events)

    def page(self, path: str = "", *, tab_id: int | None = None, frame_id: int = 0, kind: str = "TAB") -> ExtensionPage:
        """A page of the extension with Python for its script; `kind` is TAB, POPUP or SIDE_PANEL.

        With `tab_id` it is in that tab, and gets what tabs.sendMessage() sends there.
        """
        base = self.manifest.base_url
        context = ExtensionContext(
            self.id, base + path.removeprefix("/"), base[:-1], kind=kind, tab_id=tab_id, frame_id=frame_id
        )
        return self._opened(context)

    def content_script(self, tab_id: int, url: str, *, frame_id: int = 0) -> ExtensionPage:
        """A script of the extension in a web page, with Python for JavaScript: in this tab, on this page."""
        parts = urlsplit(url)
        context = ExtensionContext(
            self.id, url, f"{parts.scheme}://{parts.netloc}", kind=None, tab_id=tab_id, frame_id=frame_id
        )
        return self._opened(context)

    async def wake(self) -> None:
        """Run its background unless it runs, or has crashed and will be started again."""
        async with self._waking:
            if self._should_run and self._supervisor.runtime is None and not self._supervisor.restarting:
                self._supervisor = Supervisor(self._run, on_exit=self._supervisor.on_exit)
                await self._supervisor.start(has_run=self._has_run)

    async def suspend(self) -> bool:
        """Let it sleep until one of its events happens. If one does while it is told so, it stays awake: False."""
        runtime = self.runtime
        if runtime is None:
            return True
        told = runtime.dispatched_events + runtime.listeners("runtime.onSuspend")
        with contextlib.suppress(TimeoutError):
            await runtime.dispatch_event("runtime.onSuspend", [], within=_SUSPEND_SECONDS)
        if runtime.dispatched_events > told:
            await runtime.dispatch_event("runtime.onSuspendCanceled", [], wait=False)
            return False
        async with self._waking:
            self._host.prime_listeners = True
            try:
                await self._supervisor.stop()
            finally:
                self._host.prime_listeners = False
            await self._flush()
        return True

    async def evaluate(self, source: str, *, inspect: bool = False, within: float | None = None) -> Any:
        """Run an expression, or statements, in the scope of its background, which is woken for it."""
        await self.wake()
        runtime = self.runtime
        if runtime is None:
            again = "; it starts again in a moment" if self._supervisor.restarting else ""
            raise ExtensionTerminated(f"{self.id} is not running{again}")
        return await runtime.evaluate(source, inspect=inspect, within=within)

    def permissions_changed(self) -> None:
        """Show its scripts the namespaces that they may use now, and cut off what they may not talk to any more."""
        self._host.permissions_changed()
        if self.runtime is not None:
            self.runtime.update_namespaces(describe(self.caller))

    async def _run(self) -> Runtime:
        manifest = self.manifest
        if self._prepare is not None:
            await self._prepare()
        boot = Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=self.caller.manifest,
            description=describe(self.caller),
            data={"i18n": manifest.locales.for_runtime()},
            page=self._background.page,
            local_storage=await self._stored(),
            worker=self._background.worker,
        )
        base = manifest.base_url
        context = self.caller.context = ExtensionContext(
            manifest.id, base + self._background.page, base[:-1], is_javascript=True
        )
        child, self._child = self._child, None
        runtime = await Runtime.start(
            self._host, boot, self._limits, inspect=self._inspect, unsafe_eval=manifest.allows_eval, child=child
        )
        runtime.on_script = self._on_run
        self._messages.add_context(context)
        runtime.exited.add_done_callback(lambda _: self._messages.remove_context(context))
        self._supervisor.runtime = runtime
        for script in self._background.scripts:
            if script.module:
                await runtime.run_module(script.file)
            elif self._background.service_worker:
                await runtime.run_worker(script.file)
            else:
                await runtime.run_scripts([script.file])
        self._on_run()
        runtime.loaded()
        self._host.clear_primed_listeners()  # what was not added again is not listened to any more
        starts, self._starts = self._starts, []
        for path, arguments in starts:
            await runtime.dispatch_event(path, arguments, wait=False)
        self._has_run = True
        if not self._background.persistent and not self._inspect:
            if self._idling is not None:
                self._idling.cancel()
            self._idling = asyncio.ensure_future(self._sleep_when_idle())
        return runtime

    async def _sleep_when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        reprieved = False
        while (runtime := self.runtime) is not None:
            left = runtime.last_activity + self._idle_seconds - loop.time()
            if left <= 0 and runtime.pending_responses and not reprieved:
                runtime.last_activity = loop.time()  # a listener is not done: as in Firefox, it gets as long again
                reprieved = True
            elif left <= 0 and not runtime.pending_calls:
                self._idling = None
                if await self.suspend():
                    return
                self._idling = asyncio.current_task()
            else:
                await asyncio.sleep(max(left, 0.05))
                reprieved = reprieved and runtime.pending_responses > 0

    async def _end(self) -> None:
        self._should_run = False
        self._host.prime_listeners = False
        self._host.clear_primed_listeners()
        if self._idling is not None:
            self._idling.cancel()
        async with self._waking:
            await self._supervisor.stop()
        await self._flush()
        for page in self._pages[1:]:
            page.close()
        del self._pages[1:]

    async def _stored(self) -> list[tuple[str, str]] | None:
        """What localStorage holds. A service worker has none."""
        if self._local_storage is None or self._background.service_worker:
            return None
        return await self._local_storage.load()

    async def _flush(self) -> None:
        """What its scripts have changed is kept before anybody hears that they have ended."""
        if self._local_storage is not None:
            await self._local_storage.flush()

    def _page(self, context: ExtensionContext) -> ExtensionPage:
        mine = self.caller
        caller = ExtensionCaller(
            self.id, mine.uuid, mine.manifest, self.grants, mine.texts, mine.on_permission_request, context, self.area
        )
        page = ExtensionPage(self._dispatcher, self._messages, caller)
        self._pages.append(page)
        return page

    def _opened(self, context: ExtensionContext) -> ExtensionPage:
        self._messages.add_context(context)
        return self._page(context)

    def notify_exit(self, why: str) -> None:
        """Tell whoever has started it that it was stopped, and not by them."""
        if self._on_exit is not None:
            self._on_exit(Exit("stopped", why), None)

    def _report(self, ended: Exit, pause: float | None) -> None:
        again = f"it starts again in {pause:g} s" if pause is not None else "it is not started again"
        logger.error("%s: %s; %s", self.id, ended, again)
