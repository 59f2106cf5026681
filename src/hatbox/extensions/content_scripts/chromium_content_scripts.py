"""Content scripts in the pages of one Chromium: registered ones in each new document, others when they are executed.

Without content scripts nothing is attached to pages, and they cost nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.api.content_script_host import FrameInfo, FrameResult, Injection
from hatbox.api.content_script_registry import ContentScriptRegistry
from hatbox.api.dispatcher import Dispatcher
from hatbox.engines.chromium.protocol_hub import HubSession, ProtocolHub
from hatbox.engines.chromium.scripted_browser import ScriptedBrowser
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ContentScript
from hatbox.extension_data.content_script_matching import script_matches
from hatbox.extensions.content_scripts.document_bridge import DocumentBridge
from hatbox.extensions.content_scripts.extension_world import ExtensionWorld
from hatbox.extensions.content_scripts.frame_grants import FrameOwner
from hatbox.extensions.content_scripts.frame_injections import FrameInjections
from hatbox.extensions.content_scripts.page_frames import PageFrame, PageFrames, WorldContext
from hatbox.extensions.content_scripts.runner_source import for_open_document
from hatbox.extensions.content_scripts.style_sheets import end_runners
from hatbox.extensions.content_scripts.web_resources import WebResources
from hatbox.extensions.extension import Extension
from hatbox.messaging.message_router import MessageRouter
from hatbox.tasks import Tasks

__all__ = ["ChromiumContentScripts"]

logger = logging.getLogger("hatbox.extensions")

_KINDS: Final = ("code", "config", "main")  # as in RunnerSources


class ChromiumContentScripts:
    """Implements PageScripts for the engine, ContentScriptHost for the API, and HubDelegate for the connection."""

    def __init__(self, registry: ContentScriptRegistry, dispatcher: Dispatcher, messages: MessageRouter) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._messages = messages
        self._browser: ScriptedBrowser | None = None
        self._hub: ProtocolHub | None = None
        self._opening = asyncio.Lock()
        self._worlds: dict[str, ExtensionWorld] = {}  # by extension id
        self._bindings: dict[str, ExtensionWorld] = {}  # by the name of the binding
        self._outdated: dict[str, None] = {}  # ids of extensions whose scripts in the hub are not the current ones
        self._frames = PageFrames()
        self._bridges: dict[WorldContext, DocumentBridge] = {}
        self._injections = FrameInjections(self._bridge, self._allows)
        self._tasks = Tasks()
        self._closing = Tasks()  # never cancelled
        self.resources = WebResources(messages, self._embed)
        """See PageScripts."""

    # For the engine

    async def browser_started(self, browser: ScriptedBrowser) -> None:
        """See PageScripts."""
        self._browser = browser
        browser.on_context_opened(self._on_context_opened)
        await self._registry.attach(self)

    async def before_load(self) -> None:
        """See PageScripts."""
        if any(world.scripts for world in self._worlds.values()):
            await self._update_or_log()

    def browser_stopped(self) -> None:
        """See PageScripts."""
        self._registry.detach(self)
        self._browser = None
        if self._hub is not None:
            self._hub.close()
        for world in [*self._worlds.values()]:
            self._remove_world(world)
        self._tasks.cancel()

    # For the API

    def has_tab(self, tab_id: int) -> bool:
        """See ContentScriptHost."""
        return self._browser is not None and self._browser.target_of(tab_id) is not None

    async def set_scripts(self, extension_id: str, scripts: Sequence[ContentScript]) -> None:
        """See ContentScriptHost."""
        world = self._world(extension_id) if scripts else self._worlds.get(extension_id)
        if world is None:
            return
        before, world.scripts = world.scripts, tuple(scripts)
        self._outdated[extension_id] = None
        if not scripts and not world.extension.is_started:
            await self._end_world(world, before)
        if self._hub is not None or (scripts and self._browser is not None and self._browser.has_pages):
            await self._update_or_log()

    async def frames(self, tab_id: int) -> list[FrameInfo]:
        """See ContentScriptHost."""
        frames = await self._all_frames(tab_id)
        numbers = {frame.id: frame.number for frame in frames}
        return [
            FrameInfo(frame.number, numbers.get(frame.parent_id or "", -1), frame.url or "about:blank")
            for frame in frames
        ]

    async def execute(self, injection: Injection) -> list[FrameResult]:
        """See ContentScriptHost."""
        world, frames = await self._targets_of(injection)
        return await self._injections.execute(world, frames, injection)

    async def insert_css(self, injection: Injection) -> int:
        """See ContentScriptHost."""
        world, frames = await self._targets_of(injection)
        return await self._injections.insert_css(world, frames, injection)

    async def remove_css(self, injection: Injection) -> int:
        """See ContentScriptHost."""
        world, frames = await self._targets_of(injection)
        return await self._injections.remove_css(world, frames, injection)

    # For the connection

    def session_attached(self, session: HubSession) -> None:
        """See HubDelegate."""
        self._frames.attach(session, session.parent_frame_id)

    def session_detached(self, session: HubSession) -> None:
        """See HubDelegate."""
        self._end(self._frames.detach(session))
        self._injections.style_sheets.forget_session(session)

    def session_event(self, session: HubSession, name: str, params: dict[str, Any]) -> None:
        """See HubDelegate."""
        if name == "Runtime.bindingCalled":
            self._on_binding_called(session, params)
        elif name == "Runtime.exceptionThrown":
            self._on_exception(session, params["exceptionDetails"])
        else:
            self._end(self._frames.on_event(session, name, params))
            if name in ("Page.frameNavigated", "Page.navigatedWithinDocument"):
                self._update_urls(params.get("frameId") or params["frame"]["id"])

    def hub_lost(self) -> None:
        """See HubDelegate."""
        self._hub = None
        self._frames = PageFrames()
        self._outdated = dict.fromkeys(self._worlds)

    def _world(self, extension_id: str) -> ExtensionWorld | None:
        """The world of a running extension; a new one if another version runs now."""
        extension = self._messages.running.get(extension_id)
        world = self._worlds.get(extension_id)
        if world is not None and world.extension is extension and world.is_current:
            return world
        if world is not None:
            self._closing.spawn(self._end_world(world, world.scripts))
            self._remove_world(world)
        if not isinstance(extension, Extension):
            return None
        world = self._worlds[extension_id] = ExtensionWorld(extension)
        self._bindings[world.names.binding] = self._bindings[world.frame_names.binding] = world
        extension.permission_listeners.append(world.on_permissions_changed)
        world.on_outdated = lambda: self._on_permissions_changed(extension_id)
        if self._hub is not None:
            _add_binding(self._hub, world)
        return world

    def _required_world(self, extension_id: str) -> ExtensionWorld:
        world = self._world(extension_id)
        if world is None:
            raise ApiError(f"{extension_id} is not running")
        return world

    def _remove_world(self, world: ExtensionWorld) -> None:
        """The extension was stopped, or another version runs: its content scripts lose their connection."""
        extension_id = world.extension.id
        self._worlds.pop(extension_id, None)
        for binding in (world.names.binding, world.frame_names.binding):
            self._bindings.pop(binding, None)
        world.extension.permission_listeners.remove(world.on_permissions_changed)
        for context, bridge in [*self._bridges.items()]:
            if bridge.world is world:
                del self._bridges[context]
                bridge.close("the extension was stopped")
        if self._hub is not None:
            for kind in _KINDS:
                self._hub.remove_script(f"{world.names.world} {kind}")
            self._hub.remove_binding(world.names.binding)
            self._hub.remove_binding(world.frame_names.binding)

    async def _end_world(self, world: ExtensionWorld, scripts: tuple[ContentScript, ...]) -> None:
        """Remove a world, and the style sheets of its extension from open pages."""
        if self._worlds.get(world.extension.id) is world:
            self._remove_world(world)
        if self._hub is not None:
            styled = [script for script in scripts if script.css]
            frames = self._frames.matching(lambda frame: self._is_matched(frame, world, styled))
            await end_runners(frames, world.names)
            await self._injections.style_sheets.remove_all(world.extension.id)
        if self._hub is not None and not self._worlds:
            self._hub.close()  # pages without content scripts cost nothing

    def _on_permissions_changed(self, extension_id: str) -> None:
        self._outdated[extension_id] = None
        if self._hub is not None:
            self._tasks.spawn(self._update_or_log())

    async def _update_or_log(self) -> None:
        try:
            await self._update()
        except PlaywrightError as error:
            logger.error("content scripts are not injected: %s", error)

    async def _update(self) -> None:
        """Pass changed scripts to the connection, and open it first. Raises Playwright's Error."""
        async with self._opening:
            browser = self._browser
            if browser is None:
                return
            if self._hub is None:
                self._hub = hub = await ProtocolHub.open(browser.launched, self)
                for context_id, cookie_store_id in browser.contexts():
                    hub.add_context(context_id, cookie_store_id)
                for each in self._worlds.values():
                    _add_binding(hub, each)
                self._outdated |= dict.fromkeys(self._worlds)
            while self._outdated and self._hub is not None:
                extension_id = next(iter(self._outdated))
                del self._outdated[extension_id]
                if (world := self._worlds.get(extension_id)) is not None:
                    await self._update_world(self._hub, world, browser)
            if self._hub is not None:
                await self._hub.wait_until_ready()

    async def _update_world(self, hub: ProtocolHub, world: ExtensionWorld, browser: ScriptedBrowser) -> None:
        sources = await world.runner_sources(browser.launched)
        for kind, source in zip(_KINDS, sources, strict=True):
            key, name = f"{world.names.world} {kind}", None if kind == "main" else world.names.world
            if source is None:
                hub.remove_script(key)
            else:
                hub.set_script(key, source, name)
        if world.scripts and not world.has_run_in_open_pages:
            world.has_run_in_open_pages = True
            await hub.wait_until_ready()
            for frame in self._frames.matching(lambda frame: self._is_matched(frame, world, world.scripts)):
                self._tasks.spawn(self._run_in_open_document(frame, world, sources.isolated, sources.main))

    def _is_matched(self, frame: PageFrame, world: ExtensionWorld, scripts: Sequence[ContentScript]) -> bool:
        document = self._frames.document(frame, self._cookie_store_of(frame))
        hosts = world.extension.caller.hosts
        return any(script_matches(script, document, hosts) for script in scripts)

    async def _run_in_open_document(
        self, frame: PageFrame, world: ExtensionWorld, isolated: str | None, main: str | None
    ) -> None:
        store = self._cookie_store_of(frame)
        try:
            if isolated is not None and world.names.world not in frame.contexts:
                params = {"frameId": frame.id, "worldName": world.names.world}
                await frame.session.send("Page.createIsolatedWorld", params)
                unique_id = frame.contexts[world.names.world].unique_id
                await _evaluate(frame, unique_id, for_open_document(isolated, store))
            if main is not None and (context := frame.contexts.get("")):
                await _evaluate(frame, context.unique_id, for_open_document(main, store))
        except (PlaywrightError, KeyError) as error:
            logger.debug("the document has ended before its content scripts: %s", error)

    async def _all_frames(self, tab_id: int) -> list[PageFrame]:
        """The frames of a tab, the main frame first. Raises ApiError if its page is not reachable."""
        target_id = self._browser.target_of(tab_id) if self._browser is not None else None
        if target_id is None:
            raise ApiError(f"Invalid tab ID: {tab_id}")
        try:
            await self._update()
        except PlaywrightError as error:
            raise ApiError(f"the page of tab {tab_id} is not reachable: {error}") from error
        main = self._frames.get(target_id)
        return [*self._frames.in_page(main)] if main is not None else []

    async def _targets_of(self, injection: Injection) -> tuple[ExtensionWorld, list[PageFrame]]:
        """The world of the extension, and the frames that it may access. Raises ApiError."""
        world = self._required_world(injection.extension_id)
        every = await self._all_frames(injection.tab_id)
        chosen = self._injections.choose(every, injection, self._bridges.values())
        return world, [frame for frame in chosen if self._allows(frame, injection)]

    def _allows(self, frame: PageFrame, injection: Injection) -> bool:
        return injection.allows(self._frames.document(frame, self._cookie_store_of(frame)))

    def _bridge(self, frame: PageFrame, context: WorldContext, world: ExtensionWorld) -> DocumentBridge:
        bridge = self._bridges.get(context)
        if bridge is None:
            page_id = self._frames.root(frame).id
            owner = FrameOwner(world.extension.id, world.urls.uuid, page_id, context.unique_id)
            bridge = self._bridges[context] = DocumentBridge(
                world,
                frame,
                context,
                dispatcher=self._dispatcher,
                messages=self._messages,
                closing=self._closing,
                grant_frame=partial(self._grant_frame, owner),
                on_closed=partial(self.resources.revoke_frames, owner),
            )
        return bridge

    def _on_binding_called(self, session: HubSession, event: dict[str, Any]) -> None:
        world = self._bindings.get(event["name"])
        found = self._frames.context(session, event["executionContextId"])
        browser = self._browser
        if world is None or found is None or browser is None or not _is_of(found[1], world):
            return
        frame, context = found
        main = self._frames.root(frame)

        async def find_tab() -> int | None:
            page = main.session
            return await browser.open_tab_of(main.id, page.context_id, page.opener_id, main.url)

        self._bridge(frame, context, world).receive(event["payload"], browser.tab_of(main.id), find_tab)

    def _on_exception(self, session: HubSession, details: dict[str, Any]) -> None:
        found = self._frames.context(session, details.get("executionContextId", 0))
        if found is None:
            return
        for world in self._worlds.values():
            if world.names.world == found[1].world:
                world.log_exception(details)

    def _end(self, contexts: list[WorldContext]) -> None:
        for context in contexts:
            if context.world == "":
                self._injections.style_sheets.forget_document(context.unique_id)
            if bridge := self._bridges.pop(context, None):
                bridge.close()

    def _update_urls(self, frame_id: str) -> None:
        frame = self._frames.get(frame_id)
        for context in frame.contexts.values() if frame is not None else ():
            if bridge := self._bridges.get(context):
                bridge.update_url()

    async def _grant_frame(self, owner: FrameOwner, url: str) -> str:
        """The URL that an element of a content script loads to show a page of its extension. Raises ApiError."""
        if all(context.unique_id != owner.document_id for context in self._bridges):
            raise ApiError("the document has ended")  # it would never be revoked
        granted = self.resources.grant_frame(owner, url)
        if self._browser is not None:
            await self._browser.wait_until_intercepted()
        return granted

    async def _embed(self, extension_id: str, frame_id: str) -> bool:
        """Prepare a frame for a page of an extension; whether that was possible."""
        world = self._world(extension_id)
        try:
            if self._hub is None:
                await self._update()
            if world is None or self._hub is None:
                return False
            self._hub.embed(frame_id, world.frame_names.binding, world.frame_source(), world.urls.origin)
            await self._hub.wait_until_ready(frame_id)  # not for other pages, which may hang
        except PlaywrightError as error:
            logger.error("a frame with a page of %s was not loaded: %s", extension_id, error)
            return False
        return True

    def _on_context_opened(self, context_id: str, cookie_store_id: str) -> None:
        if self._hub is not None:
            self._hub.add_context(context_id, cookie_store_id)

    def _cookie_store_of(self, frame: PageFrame) -> str:
        page = self._frames.root(frame).session
        return self._browser.cookie_store_of(page.context_id) if self._browser is not None else ""


def _is_of(context: WorldContext, world: ExtensionWorld) -> bool:
    """Whether messages of an execution context may be those of an extension: its world, or a page of it in a frame."""
    return context.world == world.names.world or (context.world == "" and context.origin == world.urls.origin)


def _add_binding(hub: ProtocolHub, world: ExtensionWorld) -> None:
    on_reused = f"this[{json.dumps(world.names.runner)}]?.serve()"
    hub.add_binding(world.names.binding, world.names.world, on_reused)


async def _evaluate(frame: PageFrame, unique_id: str, expression: str) -> None:
    await frame.session.send("Runtime.evaluate", {"expression": expression, "uniqueContextId": unique_id})
