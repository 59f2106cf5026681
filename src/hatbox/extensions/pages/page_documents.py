"""The documents of one page of an extension: connects `browser` of each document to the API, and observes the page.

The caller of a message is the execution context that Chromium reports. Input of the user and window.close() are
observed in an isolated world. Knows neither windows nor storage.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from importlib.resources import files
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from hatbox.api.caller import ExtensionCaller
from hatbox.api.dispatcher import Dispatcher
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import COMMAND_TIMEOUT, ScriptSession, within
from hatbox.extensions.pages.cdp_connection import CdpConnection, take_receiver
from hatbox.extensions.pages.execution_contexts import ExecutionContext, ExecutionContexts
from hatbox.extensions.pages.page_console import console_entry, exception_entry
from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.extensions.pages.script_bundle import page_script, page_settings
from hatbox.extensions.runtime import Boot, Exit, LogEntry, Runtime, RuntimeLimits, describe
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.message_router import MessageRouter
from hatbox.tasks import Tasks

__all__ = ["PageDocuments", "PageObserver", "PageServices"]

logger = logging.getLogger("hatbox.extensions")

_OBSERVER: Final = files(__package__).joinpath("js/page_observer_world.js").read_text("utf-8")
_WORLD: Final = "hatbox"
_OBSERVER_BINDING: Final = "hatboxPage"
_EVALUATE_SECONDS: Final = 5.0
_ADD_SCRIPT: Final = "Page.addScriptToEvaluateOnNewDocument"


class PageServices(NamedTuple):
    """What the pages of one extension share."""

    extension_id: str
    dispatcher: Dispatcher
    messages: MessageRouter
    new_caller: Callable[[ExtensionContext], ExtensionCaller]
    """Returns a caller with the permissions of the extension."""
    new_boot: Callable[[ExtensionCaller], Boot]
    read_file: Callable[[str], bytes | None]
    limits: RuntimeLimits
    log: Callable[[LogEntry], None]


class PageObserver(Protocol):
    """Receives what happens in a page."""

    def close_requested(self) -> None:
        """A script has called window.close()."""

    def content_changed(self) -> None:
        """The content of the main document has changed, and with it maybe its size."""


class _PageHost(ApiHost):
    """Serves the scripts of one document."""

    write_log: Callable[[LogEntry], None]

    def log(self, entry: LogEntry) -> None:
        self.write_log(entry)


class _Document(NamedTuple):
    context: ExtensionContext
    caller: ExtensionCaller
    host: _PageHost
    runtime: Runtime


class PageDocuments:
    """The documents of one page, its frames included."""

    def __init__(
        self,
        page: Page,
        session: ScriptSession,
        services: PageServices,
        urls: PageUrls,
        observer: PageObserver,
        *,
        kind: str,
        tab_id: int | None = None,
    ) -> None:
        self.session = session
        """A CDP session of the page."""
        self.tab_id = tab_id
        """The tab that shows the page; None for a popup or a sidebar."""
        self._page = page
        self._services = services
        self._urls = urls
        self._observer = observer
        self._kind = kind
        # Names that the scripts of the extension cannot guess, although both are removed before they run.
        self._binding, self._receiver = f"hatbox{secrets.token_hex(8)}", f"hatbox{secrets.token_hex(8)}"
        self._documents: dict[str, _Document] = {}  # by frame id
        self._frame_numbers: dict[str, int] = {}
        self._frame_urls: dict[str, str] = {}
        self._numbers = count(1)
        self._worlds: dict[int, str] = {}  # the frame ids of the observer's worlds
        self._main_world: str | None = None  # the uniqueId of the observer's world in the main document
        self._script_id = ""
        self._replacing_script = asyncio.Lock()
        self._tasks = Tasks(_log_failure)
        self.target_id = ""
        """The CDP id of the page, and of its main frame."""

    @classmethod
    async def attach(
        cls,
        page: Page,
        services: PageServices,
        urls: PageUrls,
        observer: PageObserver,
        *,
        kind: str,
        tab_id: int | None = None,
    ) -> PageDocuments:
        """Attach to a blank page, so that `browser` exists in its documents from now on."""
        session = await ScriptSession.of_page(page)
        attached = cls(page, session, services, urls, observer, kind=kind, tab_id=tab_id)
        await attached._start()
        return attached

    @property
    def runtimes(self) -> list[Runtime]:
        """The scripts of the documents with `browser`."""
        return [each.runtime for each in self._documents.values()]

    def permissions_changed(self) -> None:
        """Update the namespaces of all documents, and close connections that are not permitted any more."""
        for each in self._documents.values():
            each.host.permissions_changed()
            each.runtime.update_namespaces(describe(each.caller))
        self._tasks.spawn(self._replace_script())

    async def evaluate(self, script: str) -> object:
        """Evaluate a script in the observer's world of the main document. Raises LookupError without a document."""
        if self._main_world is None:
            raise LookupError(self._page.url)
        params = {
            "expression": script,
            "uniqueContextId": self._main_world,
            "awaitPromise": True,
            "returnByValue": True,
        }
        result = await self.session.send("Runtime.evaluate", params, _EVALUATE_SECONDS)
        return result["result"].get("value")

    async def close(self) -> None:
        """Disconnect all documents: the page is closed, or about to be."""
        for each in self._documents.values():
            self._services.messages.remove_context(each.context)
        self._contexts.close(Exit("stopped"))
        await self._tasks.wait()

    # ------------------------------------------------------------------------------------------------------- starting

    async def _start(self) -> None:
        session = self.session
        self._contexts = ExecutionContexts(session, self._binding, self._accept, self._on_other_binding)
        session.on("Runtime.executionContextCreated", log_exceptions(self._on_context))
        session.on("Runtime.executionContextDestroyed", log_exceptions(self._on_context_destroyed))
        session.on("Runtime.executionContextsCleared", log_exceptions(self._on_contexts_cleared))
        session.on("Page.frameDetached", log_exceptions(self._on_frame_detached))
        session.on("Runtime.consoleAPICalled", log_exceptions(self._on_console))
        session.on("Runtime.exceptionThrown", log_exceptions(self._on_exception))
        session.on("Page.frameNavigated", log_exceptions(self._on_navigated))
        session.on("Page.navigatedWithinDocument", log_exceptions(self._on_navigated_within_document))
        observer = {"name": _OBSERVER_BINDING, "executionContextName": _WORLD}
        # In this order, without waiting in between: scripts need their bindings, and Runtime.enable reports contexts.
        commands: tuple[tuple[str, dict[str, Any]], ...] = (
            ("Page.enable", {}),
            ("Runtime.addBinding", {"name": self._binding}),
            ("Runtime.addBinding", observer),
            (_ADD_SCRIPT, {"source": self._source(), "runImmediately": True}),
            (_ADD_SCRIPT, {"source": _OBSERVER, "worldName": _WORLD, "runImmediately": True}),
            ("Runtime.enable", {}),
        )
        info = await session.send("Target.getTargetInfo", seconds=COMMAND_TIMEOUT)
        self.target_id = info["targetInfo"]["targetId"]  # also the id of the main frame
        sent = [asyncio.ensure_future(session.send(method, params)) for method, params in commands]
        results = await within(asyncio.gather(*sent), "Runtime.enable")
        self._script_id = results[-3]["identifier"]

    def _source(self) -> str:
        """The script that builds `browser`, with the current permissions."""
        services, origin = self._services, self._urls.origin
        boot = services.new_boot(services.new_caller(self._new_context("")))
        settings = page_settings(boot, services.limits, context="page", origin=f"{origin}/", host_sockets=True)
        return page_script(settings, binding=self._binding, receiver=self._receiver, own_origin=origin)

    async def _replace_script(self) -> None:
        async with self._replacing_script:  # of two scripts, the first one added would run
            old = self._script_id
            added = await self.session.send(_ADD_SCRIPT, {"source": self._source()})
            self._script_id = added["identifier"]
            await self.session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": old})

    # ------------------------------------------------------------------------------------------------------ documents

    def _new_context(self, frame_id: str) -> ExtensionContext:
        origin = self._urls.extension_origin
        return ExtensionContext(
            self._services.extension_id,
            self._urls.extension_url(self._frame_urls.get(frame_id, "")) or f"{origin}/",
            origin,
            kind=self._kind,
            tab_id=self.tab_id,
            frame_id=self._frame_number(frame_id),
            is_javascript=True,
        )

    def _frame_number(self, frame_id: str) -> int:
        if frame_id in ("", self.target_id):
            return 0
        if frame_id not in self._frame_numbers:
            self._frame_numbers[frame_id] = next(self._numbers)
        return self._frame_numbers[frame_id]

    def _accept(self, found: ExecutionContext) -> CdpConnection | None:
        """Connect a document of the extension. Others have no binding, and their messages are ignored."""
        if found.origin != self._urls.origin or not found.is_main_world:
            return None
        services = self._services
        context = self._new_context(found.frame_id)
        caller = services.new_caller(context)
        host = _PageHost(services.dispatcher, caller, services.read_file)
        host.write_log = services.log
        receive = take_receiver(self.session, found.unique_id, self._receiver)
        connection = CdpConnection(self.session, receive, services.limits, self._on_end)
        runtime = Runtime(host, services.new_boot(caller), services.limits, connection)
        document = self._documents[found.frame_id] = _Document(context, caller, host, runtime)
        services.messages.add_context(context)
        runtime.exited.add_done_callback(lambda _: self._on_exit(found.frame_id, document))
        return connection

    def _on_exit(self, frame_id: str, document: _Document) -> None:
        self._services.messages.remove_context(document.context)
        if self._documents.get(frame_id) is document:
            del self._documents[frame_id]
        self._tasks.spawn(document.host.close())

    def _on_end(self, reason: Exit) -> None:
        """Close a page whose scripts broke the protocol."""
        self._services.log(
            LogEntry("error", "error", f"page closed: {reason}", self._urls.extension_url(self._page.url))
        )
        self._observer.close_requested()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        self._on_url(frame["id"], frame["url"] + frame.get("urlFragment", ""))

    def _on_navigated_within_document(self, event: dict[str, Any]) -> None:
        self._on_url(event["frameId"], event["url"])

    def _on_url(self, frame_id: str, url: str) -> None:
        self._frame_urls[frame_id] = url
        if (document := self._documents.get(frame_id)) is not None:
            document.context.url = self._urls.extension_url(url)

    # --------------------------------------------------------------------------------------------------------- events

    def _on_context(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:
            self._worlds[context["id"]] = context.get("auxData", {}).get("frameId", "")
            if self._worlds[context["id"]] == self.target_id:
                self._main_world = context["uniqueId"]

    def _on_context_destroyed(self, event: dict[str, Any]) -> None:
        self._worlds.pop(event["executionContextId"], None)

    def _on_contexts_cleared(self, _: object = None) -> None:
        self._worlds.clear()

    def _on_frame_detached(self, event: dict[str, Any]) -> None:
        if event.get("reason") != "swap":  # the frame has not moved to another process
            self._frame_numbers.pop(event["frameId"], None)
            self._frame_urls.pop(event["frameId"], None)

    def _on_other_binding(self, event: dict[str, Any]) -> None:
        if event["name"] != _OBSERVER_BINDING or event["executionContextId"] not in self._worlds:
            return
        message = event["payload"]
        if message == "input":
            for each in self._documents.values():
                each.host.note_user_input()
        elif message == "close":
            self._observer.close_requested()
        elif message == "size":
            self._observer.content_changed()

    def _on_console(self, event: dict[str, Any]) -> None:
        self._services.log(console_entry(event, self._urls))

    def _on_exception(self, event: dict[str, Any]) -> None:
        self._services.log(exception_entry(event, self._urls))


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
    logger.log(level, "extension page: background task failed", exc_info=error)
