"""The background of an extension in a hidden document of Chromium, instead of an extension process.

It has a real DOM. Its requests are answered by page_requests.py, as those of other pages of the extension.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.package.background import Background
from hatbox.extensions.pages.background_requests import BackgroundRequests
from hatbox.extensions.pages.cdp_connection import CdpConnection, take_receiver
from hatbox.extensions.pages.execution_contexts import ExecutionContext, ExecutionContexts
from hatbox.extensions.pages.hidden_target import HiddenTarget
from hatbox.extensions.pages.memory_watch import MemoryWatch
from hatbox.extensions.pages.page_console import console_entry, exception_entry
from hatbox.extensions.pages.page_context import PageContext, environment_script
from hatbox.extensions.pages.page_evaluation import PageEvaluation
from hatbox.extensions.pages.script_bundle import page_script, page_settings
from hatbox.extensions.runtime import Boot, Exit, Host, Runtime, RuntimeLimits
from hatbox.extensions.runtime.boot import default_navigator
from hatbox.tasks import Tasks

__all__ = ["BackgroundPage"]

_MAX_EVENTS: Final = 10_000  # console messages and errors in one second, beyond which the document is closed


class BackgroundPage(Runtime):
    """The scripts of a background page. `start_in` opens it."""

    def __init__(
        self, host: Host, boot: Boot, limits: RuntimeLimits, connection: CdpConnection, evaluation: PageEvaluation
    ) -> None:
        super().__init__(host, boot, limits, connection)
        self._evaluation = evaluation

    @classmethod
    async def start_in(
        cls, context: PageContext, host: Host, boot: Boot, background: Background, limits: RuntimeLimits
    ) -> BackgroundPage:
        """Open the background page, and wait until its scripts have run.

        Raises ExtensionTerminated if it does not load.
        """
        try:
            target = await HiddenTarget.open(context)
        except PlaywrightError as error:
            raise ExtensionTerminated(f"the background page was not opened: {error.message}") from error
        loading = _Loading(target, context, host, boot, background, limits)
        try:
            async with asyncio.timeout(limits.start_timeout):
                return await loading.load()
        except TimeoutError:
            await target.close()
            raise ExtensionTerminated(f"the background page did not load in {limits.start_timeout:g} s") from None
        except PlaywrightError as error:
            await target.close()
            raise ExtensionTerminated(f"the background page did not load: {error.message}") from error
        except BaseException:
            await target.close()
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


class _Loading:
    """The set-up of one background page, and what lives as long as its document."""

    def __init__(
        self,
        target: HiddenTarget,
        context: PageContext,
        host: Host,
        boot: Boot,
        background: Background,
        limits: RuntimeLimits,
    ) -> None:
        self._target = target
        self._context = context
        self._host = host
        self._boot = boot
        self._limits = limits
        self._runtime: asyncio.Future[BackgroundPage] = asyncio.get_running_loop().create_future()
        self._loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._binding, self._receiver = f"hatbox{secrets.token_hex(8)}", f"hatbox{secrets.token_hex(8)}"
        self._contexts = ExecutionContexts(target, self._binding, self._accept)
        self._number = -1
        self._events = 0
        self._second = 0
        self._tasks = Tasks()
        self._requests = BackgroundRequests(target, context.requests, background)
        self._memory: MemoryWatch | None = None
        target.on("Page.domContentEventFired", lambda _: self._on_loaded())
        target.on("Runtime.consoleAPICalled", self._on_console)
        target.on("Runtime.exceptionThrown", self._on_exception)
        target.on("Target.detachedFromTarget", lambda _: self._contexts.close(Exit("exited", "the page was closed")))

    async def load(self) -> BackgroundPage:
        """Load the page, until its scripts have run."""
        target, urls = self._target, self._context.urls
        settings = page_settings(self._boot, self._limits, context=None, origin=f"{urls.origin}/", host_sockets=True)
        script = page_script(
            settings, binding=self._binding, receiver=self._receiver, own_origin=urls.origin, only_top=True
        )
        navigator = default_navigator()
        agent = {"userAgent": self._boot.user_agent, "platform": navigator["platform"]}
        add_script = "Page.addScriptToEvaluateOnNewDocument"
        await asyncio.gather(
            target.send("Page.enable"),
            target.send("Performance.enable"),
            target.send(
                "Emulation.setUserAgentOverride", {**agent, "acceptLanguage": ",".join(navigator["languages"])}
            ),
            target.send("Runtime.addBinding", {"name": self._binding}),
            target.send(add_script, {"source": environment_script(urls)}),
            target.send(add_script, {"source": script}),
            self._requests.start(),
            target.send("Runtime.enable"),
        )
        self._requests.navigate(urls.page_url(self._boot.base + self._boot.page))
        runtime: BackgroundPage = await self._first(self._runtime)
        await self._first(self._loaded, runtime)
        runtime.watch()
        self._memory = MemoryWatch(target, self._limits, runtime.connection.end)
        return runtime

    async def _first(self, wanted: asyncio.Future[Any], runtime: BackgroundPage | None = None) -> Any:
        """Wait for a future, unless the document ends first."""
        ends: list[asyncio.Future[Any]] = [self._requests.failed, *([runtime.exited] if runtime else [])]
        await asyncio.wait([wanted, *ends], return_when=asyncio.FIRST_COMPLETED)
        if wanted.done():
            return wanted.result()
        reason = runtime.exited.result() if runtime and runtime.exited.done() else self._requests.failed.result()
        raise ExtensionTerminated(f"the background page did not load: {reason}")

    def _accept(self, found: ExecutionContext) -> CdpConnection | None:
        """Connect the main document. A later one replaces it only after a restart."""
        is_main = found.is_main_world and found.frame_id == self._target.id
        if not is_main or found.origin != self._context.urls.origin or self._runtime.done():
            return None
        self._number = found.number
        receive = take_receiver(self._target, found.unique_id, self._receiver)
        connection = CdpConnection(self._target, receive, self._limits)
        evaluation = PageEvaluation(self._target, found.unique_id, self._context.urls)
        runtime = BackgroundPage(self._host, self._boot, self._limits, connection, evaluation)
        runtime.exited.add_done_callback(lambda _: self._on_exit())
        self._runtime.set_result(runtime)
        return connection

    def _on_loaded(self) -> None:
        if self._runtime.done() and not self._loaded.done():
            self._loaded.set_result(None)

    def _on_exit(self) -> None:
        if self._memory is not None:
            self._memory.stop()
        self._requests.stop()
        self._tasks.spawn(self._target.close())

    def _on_console(self, event: dict[str, Any]) -> None:
        if self._is_counted(event["executionContextId"]):
            self._host.log(console_entry(event, self._context.urls))

    def _on_exception(self, event: dict[str, Any]) -> None:
        if self._is_counted(event["exceptionDetails"].get("executionContextId", self._number)):
            self._host.log(exception_entry(event, self._context.urls))

    def _is_counted(self, number: int) -> bool:
        """Count an event, and close a document that floods. Returns whether the event is logged."""
        second = int(asyncio.get_running_loop().time())
        self._events = self._events + 1 if second == self._second else 1
        self._second = second
        if self._events <= _MAX_EVENTS:
            return number == self._number
        if self._runtime.done():
            detail = f"more than {_MAX_EVENTS} console messages or errors in one second"
            self._runtime.result().connection.end(Exit("unresponsive", detail))
        return False
