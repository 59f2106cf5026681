"""A document of an extension in a bare Chromium, with `browser` over the bridge, and its background in Deno."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page, Route

import hatbox
from hatbox.engines.chromium.launch import find_browser, launch
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.cdp_connection import CdpConnection, take_receiver
from hatbox.extensions.pages.execution_contexts import ExecutionContext, ExecutionContexts
from hatbox.extensions.pages.script_bundle import page_script, page_settings
from hatbox.extensions.runtime import Boot, Exit, LogEntry, Runtime, RuntimeLimits, describe
from hatbox.extensions.runtime.api_host import ApiHost
from tests.extensions.made import make

BINDING = "hatbox"
RECEIVER = "receiver"


class PageHost(ApiHost):
    """The real host, which stores what is logged."""

    entries: list[LogEntry]

    def log(self, entry: LogEntry) -> None:
        self.entries.append(entry)


class OpenPage:
    """A document with `browser`. `runtimes` are those of all documents that it has shown."""

    def __init__(self, extension: Extension, page: Page, session: CDPSession, limits: RuntimeLimits) -> None:
        self.extension = extension
        self.page = page
        self.session = session
        self.limits = limits
        manifest = extension.manifest
        self.origin = f"https://{manifest.uuid}"
        self.boot = Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=extension.caller.manifest,
            description=describe(extension.caller),
            data={"i18n": manifest.locales.for_runtime()},
            page="page.html",
        )
        self.runtimes: list[Runtime] = []
        self.ended: list[Exit] = []
        self.entries: list[LogEntry] = []
        self.contexts = ExecutionContexts(session, BINDING, self._accept)

    @property
    def runtime(self) -> Runtime:
        return self.runtimes[-1]

    async def start(self) -> None:
        settings = page_settings(self.boot, self.limits, context="page", origin=f"{self.origin}/")
        source = page_script(settings, binding=BINDING, receiver=RECEIVER, own_origin=self.origin)
        await self.session.send("Page.enable")
        await self.session.send("Runtime.addBinding", {"name": BINDING})
        await self.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        await self.session.send("Runtime.enable")

    async def show(self, path: str = "page.html") -> None:
        await self.page.goto(f"{self.origin}/{path}")

    async def evaluate(self, source: str) -> Any:
        async with asyncio.timeout(60):
            return await self.page.evaluate(source)

    def _accept(self, context: ExecutionContext) -> CdpConnection | None:
        if context.origin != self.origin or not context.is_main_world:
            return None
        page = self.extension.page("page.html", kind="POPUP")
        page.caller.context.is_javascript = True
        host = PageHost(self.extension._host._dispatcher, page.caller, self.extension.package.read)
        host.entries = self.entries
        function = take_receiver(self.session, context.unique_id, RECEIVER)
        connection = CdpConnection(self.session, function, self.limits, self.ended.append)
        runtime = Runtime(host, self.boot, self.limits, connection)
        runtime.exited.add_done_callback(lambda _: page.close())
        self.runtimes.append(runtime)
        return connection


@asynccontextmanager
async def open_page(
    folder: Path,
    background: str = "",
    *,
    files: Mapping[str, str] | None = None,
    limits: RuntimeLimits | None = None,
    **manifest: Any,
) -> AsyncIterator[OpenPage]:
    """An extension whose `page.html` is shown in a document of Chromium."""
    pages = {
        "page.html": "<!doctype html><title>page</title><script src=page.js></script>",
        "page.js": "",
        **(files or {}),
    }
    made = make(folder, background, files=pages, **manifest)
    async with asyncio.timeout(120), hatbox.open(folder / "profile.db") as profile:
        extension = await profile.extensions.start(made)
        launched = await launch(find_browser(), headless=True)
        try:
            context = await launched.browser.new_context()
            await _serve(context, extension)
            page = await context.new_page()
            opened = OpenPage(extension, page, await context.new_cdp_session(page), limits or RuntimeLimits())
            await opened.start()
            await opened.show()
            yield opened
        finally:
            await launched.stop()


async def _serve(context: BrowserContext, extension: Extension) -> None:
    async def answer(route: Route) -> None:
        body = extension.package.read(route.request.url.split("/", 3)[3])
        await route.fulfill(
            body=body or b"", content_type="text/html" if route.request.url.endswith("html") else "text/javascript"
        )

    await context.route("**/*", answer)
