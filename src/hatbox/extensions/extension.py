"""A running extension: its background scripts in their sandbox, its pages, its permissions, and its suspension."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from hatbox.api.caller import ExtensionCaller, ExtensionTestMessage
from hatbox.api.content_script_registry import ContentScriptRegistry, ScriptKey
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import EngineError, ExtensionTerminated
from hatbox.extension_data import run_records
from hatbox.extension_data.content_script import ContentScript
from hatbox.extension_data.extension_permissions import ExtensionPermissions
from hatbox.extension_data.registered_scripts import load_all
from hatbox.extensions.background_place import runs_in_chromium, without_document
from hatbox.extensions.event_page_host import ExtensionHost
from hatbox.extensions.extension_page import ExtensionPage
from hatbox.extensions.extension_pages import ExtensionPages
from hatbox.extensions.indexed_db import IndexedDb
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.package.background import Background
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.package_repository import LoadedPackage
from hatbox.extensions.pages.browser_pages import BrowserPages
from hatbox.extensions.pages.extension_tabs import ExtensionTabs
from hatbox.extensions.problem_reports import ProblemReports
from hatbox.extensions.run_options import RunOptions
from hatbox.extensions.runtime import Boot, Exit, LogEntry, Runtime, RuntimeLimits, describe
from hatbox.extensions.runtime.supervisor import Supervisor
from hatbox.extensions.starting import ExtensionRun
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.message_router import MessageRouter
from hatbox.store.base import Store

if TYPE_CHECKING:
    from hatbox.extensions.pages.extension_window import ExtensionWindow, WindowKind

__all__ = ["Extension"]

logger = logging.getLogger("hatbox.extensions")

_SUSPEND_TIMEOUT: Final = 5.0  # seconds for listeners of runtime.onSuspend, as in Firefox
_NO_BACKGROUND: Final = Background((), persistent=True)

_Event = tuple[str, Sequence[Any]]  # path and arguments
_MIN_SLEEP = 0.05


class Extension:
    """An extension. It runs from start() to stop(). Meanwhile an idle event page is suspended."""

    def __init__(
        self,
        loaded: LoadedPackage,
        run: ExtensionRun,
        options: RunOptions,
        *,
        store: Store,
        dispatcher: Dispatcher,
        messages: MessageRouter,
        on_reload: Callable[[], Any],
        page_tabs: ExtensionTabs,
    ) -> None:
        self.loaded = loaded
        manifest = loaded.manifest
        self.area = run.area
        """The data area: the name under which the profile stores its data."""
        self.grants = ExtensionPermissions(manifest.required, manifest.optional, run.granted)
        """The required, granted and optional permissions."""
        self.caller = ExtensionCaller(
            manifest.id,
            manifest.uuid,
            manifest.for_scripts(),
            self.grants,
            manifest.locales,
            options.decide,
            area=self.area,
        )
        self.caller.on_test_report = options.on_test_report
        self.reload = on_reload
        """Restart it from its files, as runtime.reload() does."""
        self.permission_listeners: list[Callable[[], None]] = []
        """Called when permissions were granted or revoked."""
        self._options = options
        self._child = options.child
        self._store = store
        self._content_scripts = dispatcher.content_scripts
        self.dispatcher = dispatcher
        self.messages = messages
        self._pages = ExtensionPages(dispatcher, messages, self.caller, manifest.base_url)
        self.browser = self._pages.python_page.browser
        """`browser` for Python, as an extension page sees it. Its messages are delivered to the background."""
        self._local_storage = LocalStorage(store, self.area)
        self._indexed_db = IndexedDb(store, self.area)
        self._host = ExtensionHost(
            dispatcher,
            self.caller,
            loaded.package.read,
            self.wake,
            self._local_storage,
            self._indexed_db,
            options.on_log,
        )
        self.browser_pages = BrowserPages(self, self.caller.in_context, self._local_storage, store, page_tabs)
        """Its pages in the Chromium engine of this process."""
        self._host.on_local_storage = self.browser_pages.background_changed_storage
        self._problems = ProblemReports(store, self.area)
        self._supervisor = Supervisor(self._run, on_exit=self._on_exit)
        self._idle_timer = _IdleTimer(options.idle_seconds, self.suspend)
        self._waking = asyncio.Lock()
        self._should_run = False
        self._has_run = False
        self.is_in_chromium = False
        """Whether the background runs, or ran last, in a document of Chromium."""
        self._start_events: list[_Event] = []

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.manifest.id

    @property
    def manifest(self) -> Manifest:
        """The manifest."""
        return self.loaded.manifest

    @property
    def package(self) -> Package:
        """The files."""
        return self.loaded.package

    @property
    def runtime(self) -> Runtime | None:
        """The running scripts; None while they are suspended or have crashed."""
        return self._supervisor.runtime

    @property
    def is_started(self) -> bool:
        """Whether it was started and is not being stopped. Its background may be suspended."""
        return self._should_run

    async def start(self, *events: _Event) -> None:
        """Run the background scripts, then dispatch these events: runtime.onInstalled or runtime.onStartup."""
        self._should_run = True
        self._has_run = False
        self._problems.started()
        self._start_events = list(events)
        await _start_content_scripts(self._content_scripts, self._store, self.manifest, self.area)
        await self.wake()

    async def stop(self) -> None:
        """End it."""
        await self._stop_scripts()
        await self.browser_pages.close()
        self._pages.python_page.close()
        await self._host.close()
        await self._problems.settled()

    async def restart(self, loaded: LoadedPackage, run: ExtensionRun, *events: _Event) -> None:
        """Run another version of it. All its pages are closed."""
        await self._stop_scripts()
        await self.browser_pages.close()
        self.loaded, manifest = loaded, loaded.manifest
        self._host.read_file = loaded.package.read
        effective = self.grants.effective
        effective.clear()
        self.grants = ExtensionPermissions(manifest.required, manifest.optional, run.granted, effective)
        self._pages.update(manifest, self.grants)
        await self.start(*events)

    def page(self, path: str = "", *, tab_id: int | None = None, frame_id: int = 0, kind: str = "TAB") -> ExtensionPage:
        """Open an extension page that is scripted in Python; `kind` is TAB, POPUP or SIDE_PANEL.

        With `tab_id` it is in that tab, and receives the messages of tabs.sendMessage().
        """
        url = self.manifest.base_url + path.removeprefix("/")
        return self._pages.open_page(url, tab_id=tab_id, frame_id=frame_id, kind=kind)

    def content_script(self, tab_id: int, url: str, *, frame_id: int = 0) -> ExtensionPage:
        """Open a content script that is scripted in Python, in a tab that shows a URL."""
        return self._pages.open_page(url, tab_id=tab_id, frame_id=frame_id, kind=None)

    async def open_page(
        self, path: str = "", *, kind: WindowKind = "TAB", tab_id: int | None = None
    ) -> ExtensionWindow:
        """Show a page of the extension in the running Chromium, and wait until it has loaded.

        `path` is a file with a query and a fragment, or a moz-extension:// URL. `kind` is TAB, POPUP or SIDE_PANEL. The
        page has no tab in the profile unless `tab_id` names one. Raises EngineError without a running Chromium, and
        ExtensionError if the package has no such file.
        """
        return await self.browser_pages.open(path, kind=kind, tab_id=tab_id)

    async def wake(self) -> None:
        """Run the background scripts unless they run, or have crashed and will be restarted."""
        async with self._waking:
            if self._should_run and self._supervisor.runtime is None and not self._supervisor.restarting:
                self._supervisor = Supervisor(self._run, on_exit=self._supervisor.on_exit)
                await self._supervisor.start(has_run=self._has_run)

    async def suspend(self) -> bool:
        """Stop the scripts until one of their events happens. False if an event happens during runtime.onSuspend."""
        runtime = self.runtime
        if runtime is None:
            return True
        listeners = runtime.listeners
        expected = listeners.dispatched_events + listeners.count("runtime.onSuspend")
        with contextlib.suppress(TimeoutError):
            await listeners.dispatch("runtime.onSuspend", [], timeout=_SUSPEND_TIMEOUT)
        if listeners.dispatched_events > expected:
            await listeners.dispatch("runtime.onSuspendCanceled", [], wait=False)
            return False
        await self._stop_until_event()
        return True

    async def leave_browser(self) -> None:
        """Stop a background that runs in Chromium until one of its events happens: the browser is about to end."""
        if self.is_in_chromium and self.runtime is not None:
            await self._stop_until_event()

    async def _stop_until_event(self) -> None:
        async with self._waking:
            self._host.prime_listeners = True
            try:
                await self._supervisor.stop()
            finally:
                self._host.prime_listeners = False
            await self._local_storage.flush()

    async def evaluate(self, source: str, *, inspect: bool = False, timeout: float | None = None) -> Any:
        """Run an expression or statements in the global scope of the background, which is woken if necessary."""
        await self.wake()
        runtime = self.runtime
        if runtime is None:
            restarting = "; it is being restarted" if self._supervisor.restarting else ""
            raise ExtensionTerminated(f"{self.id} is not running{restarting}")
        return await runtime.evaluate(source, inspect=inspect, timeout=timeout)

    async def send_test_message(self, values: Sequence[Any], *, user_input: bool = False) -> None:
        """Call the listeners of browser.test.onMessage in all scripts; with `user_input` as user input handlers."""
        await self.wake()
        if self.runtime is None or self._options.on_test_report is None:
            raise ExtensionTerminated(f"{self.id} is not running in a test")
        events = self.dispatcher.require_namespace(self.caller, "testing").events
        events["onUserMessage" if user_input else "onMessage"].event.emit(ExtensionTestMessage(self.id, list(values)))

    def permissions_changed(self) -> None:
        """Update the namespaces of the scripts, and close connections that are not permitted any more."""
        self._host.permissions_changed()
        if self.runtime is not None:
            self.runtime.update_namespaces(describe(self.caller))
        self.browser_pages.permissions_changed()
        for listener in [*self.permission_listeners]:
            listener()

    @property
    def limits(self) -> RuntimeLimits:
        """The limits of its scripts."""
        return self._options.limits

    @property
    def host(self) -> ExtensionHost:
        """Serves its background scripts."""
        return self._host

    def log(self, entry: LogEntry) -> None:
        """Log a console message or an uncaught error of a content script, as those of the background."""
        self._host.log_elsewhere(entry)

    def notify_exit(self, cause: str) -> None:
        """Report that the extension was stopped, and not by the program that started it."""
        if self._options.on_exit is not None:
            self._options.on_exit(Exit("stopped", cause), None)

    async def _run(self) -> Runtime:
        background = self.manifest.background or _NO_BACKGROUND
        self._host.script_error = None
        await self._store.write(lambda transaction: run_records.reset_ui(transaction, self.area))
        runtime = await self._start_runtime(background)
        self._supervisor.runtime = runtime
        for script in () if self.is_in_chromium else background.scripts:
            if script.module:
                await runtime.run_module(script.file)
            elif background.service_worker:
                await runtime.run_worker(script.file)
            else:
                await runtime.run_scripts([script.file])
        self._options.on_run()
        runtime.fire_load()
        self._host.clear_primed_listeners()  # those that the scripts did not add again
        events, self._start_events = self._start_events, []
        for path, arguments in events:
            await runtime.listeners.dispatch(path, arguments, wait=False)
        self._has_run = True
        await self._problems.background_has_run(self._host.script_error)
        if not background.persistent and not self._options.inspect:
            self._idle_timer.start(lambda: self.runtime)
        return runtime

    async def _start_runtime(self, background: Background) -> Runtime:
        manifest, place = self.manifest, self._options.background
        has_browser = self.browser_pages.has_browser
        limits = self._options.limits
        self.is_in_chromium = await asyncio.to_thread(
            runs_in_chromium, self.package, background, place, limits, has_browser=has_browser
        )
        has_window = not (background.service_worker or self.is_in_chromium)
        boot = Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=self.caller.manifest,
            description=describe(self.caller),
            data={"i18n": manifest.locales.for_runtime(), "testing": self._options.on_test_report is not None},
            page=background.page,
            local_storage=await self._local_storage.load() if has_window else None,
            worker=background.worker,
        )
        base = manifest.base_url
        context = ExtensionContext(manifest.id, base + background.page, base[:-1], is_javascript=True)
        self.caller.context = context
        self.messages.add_context(context)
        try:
            runtime = await (self._start_page(boot, background) if self.is_in_chromium else self._start_process(boot))
        except BaseException:
            self.messages.remove_context(context)
            raise
        runtime.exited.add_done_callback(lambda _: self.messages.remove_context(context))
        runtime.on_script = self._options.on_run
        if not self.is_in_chromium and (message := without_document(background, place)):
            self._host.log(LogEntry("console", "warn", message))
        return runtime

    async def _start_process(self, boot: Boot) -> Runtime:
        child, self._child = self._child, None
        limits, inspect = self._options.limits, self._options.inspect
        unsafe_eval = self.manifest.allows_eval
        self._indexed_db.discard_staged()
        return await Runtime.start(self._host, boot, limits, inspect=inspect, unsafe_eval=unsafe_eval, child=child)

    async def _start_page(self, boot: Boot, background: Background) -> Runtime:
        try:
            return await self.browser_pages.start_background(boot, background)
        except EngineError as error:
            raise ExtensionTerminated(f"the background page was not opened: {error}") from error

    async def _stop_scripts(self) -> None:
        self._should_run = False
        await _stop_content_scripts(self._content_scripts, self.id)
        self._host.prime_listeners = False
        self._host.clear_primed_listeners()
        self._idle_timer.stop()
        async with self._waking:
            await self._supervisor.stop()
        await self._local_storage.flush()
        self._pages.close()

    def _on_exit(self, ended: Exit, delay: float | None) -> None:
        restart = f"restarting in {delay:g} s" if delay is not None else "not restarted"
        self._host.on_log(LogEntry("exit", "error", f"{ended}; {restart}"))
        self._problems.background_exited(ended, delay)
        if self._options.on_exit is not None:
            self._options.on_exit(ended, delay)
        else:
            logger.error("%s: %s; %s", self.id, ended, restart)


async def _start_content_scripts(registry: ContentScriptRegistry, store: Store, manifest: Manifest, area: str) -> None:
    """Register the content scripts of an extension, before its background scripts run."""
    stored = await store.read(lambda transaction: load_all(transaction, area))
    scripts: dict[ScriptKey, ContentScript] = {
        ("manifest", index): each for index, each in enumerate(manifest.content_scripts)
    }
    scripts |= {("scripting", script.id): script for script in stored}
    if scripts:
        await registry.change(manifest.id, scripts)


async def _stop_content_scripts(registry: ContentScriptRegistry, extension_id: str) -> None:
    """Unregister all content scripts of an extension. Engines are notified in any case: they may have executed some."""
    await registry.change(extension_id, {})


class _IdleTimer:
    """Calls `suspend` when the runtime has been idle for `seconds`. `suspend` returns whether it did."""

    def __init__(self, seconds: float, suspend: Callable[[], Awaitable[bool]]) -> None:
        self._seconds = seconds
        self._suspend = suspend
        self._task: asyncio.Task[None] | None = None

    def start(self, runtime: Callable[[], Runtime | None]) -> None:
        """Watch a runtime until it is suspended, or `runtime` returns None."""
        self.stop()
        self._task = asyncio.ensure_future(self._watch(runtime))

    def stop(self) -> None:
        """Stop watching. A suspension that has started is not cancelled."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self, current: Callable[[], Runtime | None]) -> None:
        loop = asyncio.get_running_loop()
        extended = False
        while (runtime := current()) is not None:
            left = runtime.last_activity + self._seconds - loop.time()
            if left <= 0 and runtime.pending_responses and not extended:
                runtime.touch()  # a listener has not finished: as in Firefox, the page gets another period
                extended = True
            elif left <= 0 and not runtime.pending_calls:
                self._task = None
                if await self._suspend():
                    return
                self._task = asyncio.current_task()
            else:
                await asyncio.sleep(max(left, _MIN_SLEEP))
                extended = extended and runtime.pending_responses > 0
