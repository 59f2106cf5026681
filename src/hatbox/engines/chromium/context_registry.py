"""The browser contexts of identities: created on demand, updated with changes of the profile, closed when empty."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.cookies.cookie_stores import CookieChange, CookieStore
from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.closing import close_context
from hatbox.engines.chromium.context_creation import new_browser_context
from hatbox.engines.chromium.context_settings import uses_proxy
from hatbox.engines.chromium.identity_context import ContextDelegate, ContextOptions, IdentityContext
from hatbox.engines.chromium.identity_indicator import IdentityIndicator, indicator_for
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.proxy_relay import ProxyRelay, relay_for
from hatbox.errors import EngineError, InvalidSetting
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of, user_context_id_of
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.settings import IdentitySettings, read_settings
from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.tabs.site_data import SITE_DATA_CLEARED, SiteDataRemoval

__all__ = ["ContextRegistry", "map_browser_errors"]

logger = logging.getLogger("hatbox.engines.chromium")

_CONTEXT_SAVE_TIMEOUT: Final = 15.0
_USERS_POLL_SECONDS: Final = 0.01


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
        self.on_opened: Callable[[str, str], None] = lambda context_id, cookie_store_id: None  # noqa: ARG005
        """Called with the browserContextId and cookieStoreId of each opened context."""

    def __iter__(self) -> Iterator[IdentityContext]:
        return iter([*self._contexts.values()])

    @property
    def used(self) -> list[str]:
        """The cookieStoreIds of the contexts that are open, and of those being created or closed."""
        return [*self._locks]

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
                self.on_opened(context.context_id, cookie_store_id)
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
            is_used = context.pages or context.users or context.clients
            if is_used or self._contexts.get(context.cookie_store_id) is not context:
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

    async def renew(
        self,
        cookie_store_id: str,
        save: Callable[[IdentityContext], Awaitable[None]],
        on_closed: Callable[[list[LivePage]], None],
    ) -> None:
        """Save and close the context of an identity whose settings have changed. The next `use` creates it anew.

        If the proxy differs, the context is offline from the start. `save` saves its pages before it is closed. A
        context that cannot be taken offline is closed at once, with what it has not saved yet.
        """
        if cookie_store_id not in self._locks:
            return
        async with self._locks[cookie_store_id]:
            context = self._contexts.get(cookie_store_id)
            if context is None or (settings := await self._usable_settings(cookie_store_id)) == context.settings:
                return
            is_rerouted = settings is None or settings.proxy != context.settings.proxy
            if is_rerouted and not await context.go_offline():
                logger.warning("context of %s is closed unsaved: its proxy has changed", cookie_store_id)
                pages = [*context.pages]
                self.discard(context)
                await context.discard()
                on_closed(pages)
                return
            while context.users:  # noqa: ASYNC110 - pages that are being opened
                await asyncio.sleep(_USERS_POLL_SECONDS)
            await save(context)
            pages = [*context.pages]
            self.discard(context)
            await _close(context)
            on_closed(pages)

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
        cookie_store, indicator, settings = await asyncio.gather(
            self._env.services.cookie_stores.open(cookie_store_id),
            self._indicator(cookie_store_id),
            self._settings(cookie_store_id),
        )
        if uses_proxy(settings) and not self._env.launched.blocks_webrtc:
            reason = f"{cookie_store_id} has a proxy now: the browser starts again with WebRTC limited to proxies"
            self._env.delegate.restart_needed(reason)
            raise EngineError(reason)
        relay = await relay_for(settings)
        try:
            return await self._open(cookie_store, indicator, settings, relay)
        except BaseException:
            if relay is not None:
                await relay.close()
            raise

    async def _open(
        self,
        cookie_store: CookieStore,
        indicator: IdentityIndicator | None,
        settings: IdentitySettings,
        relay: ProxyRelay | None,
    ) -> IdentityContext:
        cookie_store_id = cookie_store.cookie_store_id
        async with self._create_lock:
            context, context_id = await new_browser_context(self._env, settings, relay)
        session, store = self._env.session, self._env.store
        shown, pages = self._env.options, self._env.services.endpoint_pages
        options = ContextOptions(shown.headless, indicator, shown.downloads, settings, relay, pages)
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

    async def _usable_settings(self, cookie_store_id: str) -> IdentitySettings | None:
        """The settings of an identity; None if this version cannot use them. Then its context must not stay either."""
        try:
            return await self._settings(cookie_store_id)
        except InvalidSetting as error:
            logger.warning("%s: %s", cookie_store_id, error)
            return None

    async def _settings(self, cookie_store_id: str) -> IdentitySettings:
        user_context_id = user_context_id_of(cookie_store_id) or 0
        return await self._env.store.read(lambda transaction: read_settings(transaction, user_context_id))

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
            context.indicator.set_identity(indicator_for(identity))


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
