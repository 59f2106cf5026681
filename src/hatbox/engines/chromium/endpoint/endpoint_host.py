"""Opens endpoints in an engine: gives each client the browser context of its identity and a tunnel to Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError
from websockets.asyncio.server import ServerConnection

from hatbox.engines.chromium.context_registry import ContextRegistry, map_browser_errors
from hatbox.engines.chromium.endpoint.authorization import Authorization, Authorize
from hatbox.engines.chromium.endpoint.client_connection import ClientConnection
from hatbox.engines.chromium.endpoint.client_targets import ClientTargets
from hatbox.engines.chromium.endpoint.endpoint import Endpoint
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.endpoint.manager_page_block import ManagerPageBlock
from hatbox.engines.chromium.endpoint.protocol_tunnel import ProtocolTunnels
from hatbox.engines.chromium.endpoint.script_compiler import ScriptCompiler
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.running_browser import RunningBrowser
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.endpoint_records import PublishedEndpoint
from hatbox.errors import EngineError

__all__ = ["EndpointHost"]

_LISTED: Final = [{"type": "page"}]


class EndpointHost:
    """The endpoints of one engine. `running` returns the parts of its browser, and raises EngineError without one."""

    def __init__(self, running: Callable[[], RunningBrowser], pages: EndpointPages) -> None:
        self._running = running
        self._pages = pages
        self._endpoints: list[Endpoint] = []
        self._tunnels: tuple[Browser, ProtocolTunnels] | None = None
        self._compiler: tuple[Browser, ScriptCompiler] | None = None
        self._block: tuple[Browser, ManagerPageBlock] | None = None
        self._opening = asyncio.Lock()

    async def open(
        self,
        cookie_store_id: str,
        authorize: Authorize,
        serves: Callable[[str], bool],
        options: EndpointOptions = NO_OPTIONS,
    ) -> Endpoint:
        """Start an endpoint for an identity. `serves` says whether the engine still serves it. Raises OSError."""
        store = self._running().env.store
        endpoint = Endpoint(_IdentityService(self, cookie_store_id, serves, options), authorize)
        await endpoint.start(options.port)
        published = PublishedEndpoint(store, cookie_store_id, endpoint.port)
        endpoint.on_clients_changed = lambda: published.publish(endpoint.programs)
        endpoint.on_closed = published.withdraw
        published.publish(())
        self._endpoints = [*(each for each in self._endpoints if not each.is_closed), endpoint]
        return endpoint

    async def close(self) -> None:
        """Close all endpoints."""
        endpoints, self._endpoints = self._endpoints, []
        await asyncio.gather(*(each.close() for each in endpoints))
        compiler, self._compiler = self._compiler, None
        if compiler is not None:
            await compiler[1].close()
        tunnels, self._tunnels = self._tunnels, None
        if tunnels is not None:
            await tunnels[1].close()

    def running(self) -> RunningBrowser:
        """The parts of the browser. Raises EngineError if it does not run."""
        return self._running()

    async def serve(
        self, socket: ServerConnection, contexts: ContextRegistry, cookie_store_id: str, arguments: _Client
    ) -> None:
        """Serve a client. The context stays open until the client leaves, without pages too."""
        with map_browser_errors():
            async with contexts.use(cookie_store_id) as context:
                await context.close_spare_page()
                tunnels = await self._current_tunnels()
                browser = self._running().env.launched.browser
                context.clients.add(arguments[0])
                self._pages.connect(context.context_id)
        try:
            await self._keep_manager_page_out(context)
            connection = ClientConnection(socket, context, self._pages, self._compiler_of(browser), *arguments[1:])
            await connection.run(tunnels, arguments[0])
        finally:
            context.clients.remove(arguments[0])
            self._pages.disconnect(context.context_id)
            if not context.ended.is_set():
                await contexts.close_if_empty(context)

    async def _keep_manager_page_out(self, context: IdentityContext) -> None:
        """A client would use the session of the manager page, which has all identities. See ManagerPageBlock."""
        browser = self._running().env.launched.browser
        try:
            async with self._opening:
                if self._block is None or self._block[0] is not browser:
                    self._block = browser, await ManagerPageBlock.open(browser, self._pages)
        except PlaywrightError as error:
            raise EngineError("programs cannot connect: Chromium rejected Fetch.enable. Restart the engine.") from error
        with map_browser_errors():
            await context.cookies.exclude_protected()

    async def _current_tunnels(self) -> ProtocolTunnels:
        browser = self._running().env.launched.browser
        async with self._opening:
            if self._tunnels is None or self._tunnels[0] is not browser:
                self._tunnels = browser, await ProtocolTunnels.open(browser)
            return self._tunnels[1]

    def _compiler_of(self, browser: Browser) -> ScriptCompiler:
        if self._compiler is None or self._compiler[0] is not browser:
            self._compiler = browser, ScriptCompiler(browser)
        return self._compiler[1]

    def visible(self, context_id: str, infos: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The pages of a context that clients may see."""
        targets = ClientTargets(context_id)
        for target_id in self._pages.withheld:
            targets.withhold(target_id)
        for info in infos:
            targets.observe(info)
        return [targets.announce(each) for each in targets.visible(_LISTED)]


_Client = tuple[Authorization, str, EndpointOptions]


class _IdentityService:
    """Implements EndpointService."""

    def __init__(
        self, host: EndpointHost, cookie_store_id: str, serves: Callable[[str], bool], options: EndpointOptions
    ) -> None:
        self._host = host
        self._options = options
        self._cookie_store_id = cookie_store_id
        self._serves = serves

    async def version(self) -> dict[str, Any]:
        with map_browser_errors():
            found: dict[str, Any] = await self._browser().env.session.send("Browser.getVersion")
            return found

    async def targets(self) -> list[dict[str, Any]]:
        running = self._browser()
        context = next((each for each in running.contexts if each.cookie_store_id == self._cookie_store_id), None)
        if context is None:
            return []
        with map_browser_errors():
            found = await running.env.session.send("Target.getTargets")
        tabs = {page.target_id: tab_id for tab_id, page in running.pages.items()}
        visible = self._host.visible(context.context_id, found["targetInfos"])
        return [each | ({"tabId": tabs[each["targetId"]]} if each["targetId"] in tabs else {}) for each in visible]

    async def connect(self, socket: ServerConnection, authorization: Authorization, page_id: str) -> None:
        contexts = self._browser().contexts
        await self._host.serve(socket, contexts, self._cookie_store_id, (authorization, page_id, self._options))

    def _browser(self) -> RunningBrowser:
        if not self._serves(self._cookie_store_id):
            raise EngineError(f"this engine does not serve {self._cookie_store_id} any more")
        return self._host.running()
