"""The background of an extension in a hidden document of Chromium, instead of an extension process.

It has a real DOM. Its requests are answered by page_requests.py, as those of other pages of the extension.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.hidden_target import HiddenTarget
from hatbox.errors import ExtensionTerminated
from hatbox.extensions.package.background import Background
from hatbox.extensions.pages.background_requests import BackgroundRequests
from hatbox.extensions.pages.cdp_connection import CdpConnection, take_receiver
from hatbox.extensions.pages.dom_storage import DomStorage
from hatbox.extensions.pages.memory_watch import MemoryWatch
from hatbox.extensions.pages.page_context import PageContext, environment_script
from hatbox.extensions.pages.page_evaluation import PageEvaluation
from hatbox.extensions.pages.script_bundle import page_script, page_settings
from hatbox.extensions.runtime import Boot, Exit, Host, Runtime, RuntimeLimits
from hatbox.extensions.runtime.boot import default_navigator
from hatbox.tasks import Tasks

__all__ = ["BackgroundPage"]

_NO_WORLD: Final = "hatbox: no world"
_STORAGE_WORLD: Final = "hatbox"


class BackgroundPage(Runtime):
    """The scripts of a background page. `start_in` opens it."""

    def __init__(
        self,
        host: Host,
        boot: Boot,
        limits: RuntimeLimits,
        connection: CdpConnection,
        session: HiddenTarget,
        evaluation: PageEvaluation,
    ) -> None:
        super().__init__(host, boot, limits, connection)
        self.session = session
        """A CDP session with its document."""
        self._evaluation = evaluation

    @classmethod
    async def start_in(
        cls,
        context: PageContext,
        host: Host,
        boot: Boot,
        background: Background,
        limits: RuntimeLimits,
        storage: DomStorage | None = None,
    ) -> BackgroundPage:
        """Open the background page, and wait until its scripts have run. `storage` observes its storage.

        Raises ExtensionTerminated if it does not load.
        """
        try:
            target = await HiddenTarget.open(context.context.browser, context.context_id)
        except PlaywrightError as error:
            raise ExtensionTerminated(f"the background page was not opened: {error.message}") from error
        loading = _HiddenDocument(target, context, host, boot, background, limits, storage)
        try:
            async with asyncio.timeout(limits.start_timeout):
                return await loading.load()
        except BaseException as error:
            loading.release()
            await target.close()
            if isinstance(error, TimeoutError):
                problem = f"the background page did not load in {limits.start_timeout:g} s"
                raise ExtensionTerminated(problem) from None
            if isinstance(error, PlaywrightError):
                raise ExtensionTerminated(f"the background page did not load: {error.message}") from error
            raise

    async def evaluate(self, source: str, *, inspect: bool = False, timeout: float | None = None) -> Any:
        """See Runtime.evaluate(). The code runs in the document, without its content security policy."""
        try:
            async with asyncio.timeout(timeout):
                return await self._evaluation.evaluate(source, inspect=inspect)
        except PlaywrightError as error:
            raise ExtensionTerminated(f"the background page has ended: {error.message}") from error

    def fire_load(self) -> None:
        """Do nothing: Chromium fires the event."""


class _HiddenDocument:
    """Starts one background page, and owns what ends with its document. Implements StoragePage.

    The Runtime domain is disabled before the scripts of the extension send anything: Chromium would send an event for
    each console message and error of a script that floods. The binding is added again, for a world that does not exist,
    so that the function that the document has works. Its name is secret, and only the main document gets it.
    """

    def __init__(
        self,
        target: HiddenTarget,
        context: PageContext,
        host: Host,
        boot: Boot,
        background: Background,
        limits: RuntimeLimits,
        storage: DomStorage | None,
    ) -> None:
        self.session = target
        self._target = target
        self._storage = storage
        self._context = context
        self._host = host
        self._boot = boot
        self._limits = limits
        self._runtime: asyncio.Future[BackgroundPage] = asyncio.get_running_loop().create_future()
        self._loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._binding, self._receiver = f"hatbox{secrets.token_hex(8)}", f"hatbox{secrets.token_hex(8)}"
        self._connection: CdpConnection | None = None
        self._documents = 0
        self._tasks = Tasks()
        self._requests = BackgroundRequests(target, context.requests, background)
        self._memory: MemoryWatch | None = None
        target.on("Runtime.bindingCalled", self._on_binding)
        target.on("Page.domContentEventFired", lambda _: self._on_loaded())
        target.on("Page.frameNavigated", self._on_navigated)
        target.on("Inspector.targetCrashed", lambda _: self._close(Exit("crashed: the renderer process has ended")))
        target.on("Target.detachedFromTarget", lambda _: self._close(Exit("exited", "the page was closed")))

    @property
    def runtimes(self) -> list[Runtime]:
        """See StoragePage."""
        is_running = self._runtime.done() and self._runtime.result().connection.running
        return [self._runtime.result()] if is_running else []

    async def evaluate(self, script: str) -> object:
        """See StoragePage."""
        if not self.runtimes:
            raise LookupError(self._boot.page)
        frame = {"frameId": self._target.id, "worldName": _STORAGE_WORLD}
        world = await self._target.send("Page.createIsolatedWorld", frame)
        params = {"expression": script, "contextId": world["executionContextId"]}
        result = await self._target.send("Runtime.evaluate", {**params, "awaitPromise": True, "returnByValue": True})
        return result["result"].get("value")

    async def load(self) -> BackgroundPage:
        """Load the page, until its scripts have run."""
        target, urls, languages = self._target, self._context.urls, default_navigator()["languages"]
        settings = page_settings(
            self._boot, self._limits, context=None, origin=f"{urls.origin}/", host_sockets=True, gated=True
        )
        names = {"binding": self._binding, "receiver": self._receiver}
        script = page_script(settings, **names, own_origin=urls.origin, is_background=True)
        add_script = "Page.addScriptToEvaluateOnNewDocument"
        agent = {"userAgent": self._boot.user_agent, "acceptLanguage": ",".join(languages)}
        await asyncio.gather(
            target.send("Page.enable"),
            target.send("Performance.enable"),
            target.send("Emulation.setUserAgentOverride", agent),
            target.send("Runtime.addBinding", {"name": self._binding}),
            target.send(add_script, {"source": environment_script(urls)}),
            target.send(add_script, {"source": script}),
            self._requests.start(),
            target.send("Runtime.enable"),
        )
        if self._storage is not None:
            await self._storage.attach(self)
        self._requests.navigate(urls.page_url(self._boot.base + self._boot.page))
        runtime: BackgroundPage = await self._first(self._runtime)
        self._memory = MemoryWatch(target, self._limits, runtime.connection.end)
        await self._first(self._loaded, runtime)
        await runtime.flush()  # its listeners are registered
        runtime.watch()
        return runtime

    async def _first(self, wanted: asyncio.Future[Any], runtime: BackgroundPage | None = None) -> Any:
        """Wait for a future, unless the document ends first."""
        ends: list[asyncio.Future[Any]] = [self._requests.failed, *([runtime.exited] if runtime else [])]
        await asyncio.wait([wanted, *ends], return_when=asyncio.FIRST_COMPLETED)
        if wanted.done():
            return wanted.result()
        ended = next(each for each in reversed(ends) if each.done())
        raise ExtensionTerminated(f"the background page did not load: {ended.result()}")

    def _on_binding(self, event: dict[str, Any]) -> None:
        if event["name"] != self._binding:
            return
        if self._connection is None:
            self._connect(event["executionContextId"])
        if self._connection is not None:
            self._connection.binding_called(event["payload"])

    def _connect(self, number: int) -> None:
        """Connect the document: its script has sent the first message."""
        self._target.send("Runtime.disable")
        self._target.send("Runtime.addBinding", {"name": self._binding, "executionContextName": _NO_WORLD})
        receive = take_receiver(self._target, number, self._receiver)
        self._connection = CdpConnection(self._target, receive, self._limits, is_gated=True)
        evaluation = PageEvaluation(self._target, number, self._context.urls)
        runtime = BackgroundPage(self._host, self._boot, self._limits, self._connection, self._target, evaluation)
        runtime.exited.add_done_callback(lambda _: self._on_exit())
        self._runtime.set_result(runtime)

    def _on_loaded(self) -> None:
        if self._runtime.done() and not self._loaded.done():
            self._loaded.set_result(None)

    def _on_navigated(self, event: dict[str, Any]) -> None:
        """A second document in the main frame: the page has reloaded itself. It starts again with a new target."""
        if "parentId" not in event["frame"]:
            self._documents += 1
            if self._documents > 1:
                self._close(Exit("exited", "the page has reloaded itself"))

    def _close(self, reason: Exit) -> None:
        if self._connection is not None:
            self._connection.closed(reason)
        elif not self._requests.failed.done():
            self._requests.failed.set_result(str(reason))

    def _on_exit(self) -> None:
        self.release()
        self._tasks.spawn(self._target.close())

    def release(self) -> None:
        """Stop observing the document: it has ended, or did not load."""
        if self._storage is not None:
            self._storage.remove(self)
        if self._memory is not None:
            self._memory.stop()
        self._requests.stop()
