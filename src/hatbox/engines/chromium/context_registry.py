"""The browser contexts of identities: created on demand, updated with changes of the profile, closed when empty."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import msgspec
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from hatbox.cookies.cookie_stores import CookieChange
from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.closing import close_context
from hatbox.engines.chromium.identity_context import ContextDelegate, ContextOptions, IdentityContext
from hatbox.engines.chromium.identity_indicator import IdentityIndicator, indicator_for
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.sessions import within
from hatbox.errors import EngineError
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.identities.model import ContextualIdentity
from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.tabs.site_data import SITE_DATA_CLEARED, SiteDataRemoval

__all__ = ["ContextRegistry", "map_browser_errors"]

logger = logging.getLogger("hatbox.engines.chromium")

_CONTEXT_SAVE_TIMEOUT: Final = 15.0


class ContextRegistry:
    """The contexts of one launched browser. Set `delegate` before the first context is opened."""

    delegate: ContextDelegate

    def __init__(self, env: BrowserEnvironment) -> None:
        self._env = env
        self._contexts: dict[str, IdentityContext] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._opening: dict[str, bool] = {}  # contexts being created, and whether their cookies changed meanwhile
        self._create_lock = asyncio.Lock()
        self._clearing: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[IdentityContext]:
        return iter([*self._contexts.values()])

    def start(self) -> None:
        """Subscribe to changes of cookies, site data and identities."""
        self._env.services.cookie_stores.on_changed.add_listener(self.on_cookie_changed)
        self._env.store.subscribe(self._on_change)
        if self._env.options.indicator:
            self._env.services.identities.on_updated.add_listener(self._on_identity_updated)

    def stop(self) -> None:
        """Unsubscribe. Contexts stay open."""
        self._env.services.cookie_stores.on_changed.remove_listener(self.on_cookie_changed)
        self._env.store.unsubscribe(self._on_change)
        self._env.services.identities.on_updated.remove_listener(self._on_identity_updated)

    @contextlib.asynccontextmanager
    async def use(self, cookie_store_id: str) -> AsyncIterator[IdentityContext]:
        """The context of an identity, created if needed. It is not closed inside the `async with` block."""
        async with self._locks[cookie_store_id]:
            context = self._contexts.get(cookie_store_id)
            if context is None:
                context = self._contexts[cookie_store_id] = await self._create(cookie_store_id)
            context.users += 1
        try:
            yield context
        finally:
            context.users -= 1

    def find(self, context_id: str) -> IdentityContext | None:
        """The context with this browserContextId; None while it is being created or closed."""
        return next((context for context in self if context.context_id == context_id), None)

    def of_page(self, page: LivePage) -> IdentityContext | None:
        """The context of an open page."""
        return next((context for context in self if page in context.pages), None)

    async def close_page(self, context: IdentityContext | None, page: LivePage) -> None:
        """Close a page, and its context if that was the last page."""
        if context is None:
            await page.close()
        else:
            await context.close_page(page)
            await self.close_if_empty(context)

    async def close_if_empty(self, context: IdentityContext) -> None:
        """Save and close a context without pages, to free its memory."""
        async with self._locks[context.cookie_store_id]:
            if context.pages or context.users or self._contexts.get(context.cookie_store_id) is not context:
                return
            del self._contexts[context.cookie_store_id]
            await _close(context)

    def discard(self, context: IdentityContext) -> None:
        """Remove a context that is closed already."""
        if self._contexts.get(context.cookie_store_id) is context:
            del self._contexts[context.cookie_store_id]

    async def close_identity(self, cookie_store_id: str) -> list[LivePage]:
        """Save and close the context of an identity. Returns the pages that were open in it."""
        async with self._locks[cookie_store_id]:
            context = self._contexts.pop(cookie_store_id, None)
            if context is None:
                return []
            pages = [*context.pages]
            await _close(context)
            return pages

    async def remove_identity(self, cookie_store_id: str) -> None:
        """Close the context of a removed identity without saving it."""
        async with self._locks[cookie_store_id]:
            if context := self._contexts.pop(cookie_store_id, None):
                await context.discard()
        self._locks.pop(cookie_store_id, None)

    async def close_all(self) -> None:
        """Save and close all contexts."""
        contexts, self._contexts = self._contexts, {}
        await asyncio.gather(*(_close(context) for context in contexts.values()))

    def abandon(self) -> None:
        """Stop all work of the contexts, and save nothing: the browser has crashed, or another engine has the tabs."""
        for context in self:
            context.abandon()
            for page in context.pages:
                page.detach()
        self._contexts.clear()

    async def wait_until_synced(self) -> None:
        """Wait until removed site data is cleared, and cookies are equal in the browser and the profile."""
        if self._clearing:
            await asyncio.wait(self._clearing)
        with map_browser_errors():
            await asyncio.gather(*(context.cookies.wait_until_synced() for context in self))

    async def _create(self, cookie_store_id: str) -> IdentityContext:
        cookie_store, indicator = await asyncio.gather(
            self._env.services.cookie_stores.open(cookie_store_id), self._indicator(cookie_store_id)
        )
        async with self._create_lock:
            context, context_id = await self._new_browser_context()
        session, store = self._env.session, self._env.store
        options = ContextOptions(self._env.options.headless, indicator, self._env.options.downloads)
        self._opening[cookie_store_id] = False
        try:
            opened = await IdentityContext.open(
                context, context_id, session, cookie_store, store, self.delegate, options
            )
            if self._opening.get(cookie_store_id):
                opened.cookies.schedule_full_sync()
            return opened
        except BaseException:
            await close_context(context, context_id, session)
            raise
        finally:
            self._opening.pop(cookie_store_id, None)

    async def _new_browser_context(self) -> tuple[BrowserContext, str]:
        """A new context and its id. Playwright does not expose the id, so compare the ids before and after."""
        launched = self._env.launched
        options: dict[str, Any] = (
            {"user_agent": launched.user_agent} if self._env.options.headless else {"no_viewport": True}
        )
        while True:
            before = await _context_ids(launched)
            context = await within(launched.browser.new_context(**options), "Target.createBrowserContext")
            created = await _context_ids(launched) - before
            if len(created) == 1:
                return context, created.pop()
            await within(context.close(), "context.close()")  # a concurrent call has created one

    async def _indicator(self, cookie_store_id: str) -> IdentityIndicator | None:
        if not self._env.options.indicator or cookie_store_id == DEFAULT_COOKIE_STORE_ID:
            return None
        return indicator_for(await self._env.services.identities.get(cookie_store_id))

    def on_cookie_changed(self, change: CookieChange) -> None:
        """Push a changed cookie of the profile to the browser."""
        if context := self._contexts.get(change.cookie_store_id):
            context.cookies.on_store_change(change)
        elif change.cookie_store_id in self._opening:
            self._opening[change.cookie_store_id] = True

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == RESYNC:
            for context in self:
                context.cookies.schedule_full_sync()
            self._opening = dict.fromkeys(self._opening, True)
        elif change.topic == SITE_DATA_CLEARED:
            removal = msgspec.json.decode(change.payload, type=SiteDataRemoval)
            if (cookie_store_id := cookie_store_id_of(removal.number)) in self._locks:
                task = self._env.tasks.spawn(self._clear_site_data(cookie_store_id, removal))
                self._clearing.add(task)
                task.add_done_callback(self._clearing.discard)

    async def _clear_site_data(self, cookie_store_id: str, removal: SiteDataRemoval) -> None:
        async with self._locks[cookie_store_id]:  # a context being created may have restored the data already
            if context := self._contexts.get(cookie_store_id):
                await context.clear_site_data(removal)

    async def _on_identity_updated(self, identity: ContextualIdentity) -> None:
        if context := self._contexts.get(identity.cookie_store_id):
            await context.set_indicator(indicator_for(identity))


@contextlib.contextmanager
def map_browser_errors() -> Iterator[None]:
    """Raise errors of Playwright as EngineError."""
    try:
        yield
    except PlaywrightError as error:
        raise EngineError(f"the browser did not open a page: {str(error).splitlines()[0]}") from error


async def _close(context: IdentityContext) -> None:
    """Save and close a context. After the timeout, unsaved data is lost."""
    try:
        async with asyncio.timeout(_CONTEXT_SAVE_TIMEOUT):
            await context.close()
    except TimeoutError:
        logger.warning("closing context of %s timed out; data may be incomplete", context.cookie_store_id)


async def _context_ids(launched: Launched) -> set[str]:
    return set((await launched.session.send("Target.getBrowserContexts"))["browserContextIds"])
