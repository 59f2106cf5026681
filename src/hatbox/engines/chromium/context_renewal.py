"""Makes the browser context of an identity anew when its settings have changed.

Its pages are saved as if they were hidden, and opened again in a new context. Requests of the old one end first.
"""

from __future__ import annotations

import asyncio

import msgspec

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.minimized_pages import MinimizedPages
from hatbox.engines.chromium.page_saving import save_snapshot
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.identity.settings import SETTINGS_CHANGED, decode_settings_change
from hatbox.store.base import RESYNC, ChangeRecord, Transaction

__all__ = ["ContextRenewal", "has_proxies"]

_SETTINGS: str = "settings"  # see hatbox.identity.settings


class ContextRenewal:
    """Applies changed settings to the contexts of one launched browser."""

    def __init__(
        self, env: BrowserEnvironment, contexts: ContextRegistry, pages: TabPages, minimized: MinimizedPages
    ) -> None:
        self._env = env
        self._contexts = contexts
        self._pages = pages
        self._minimized = minimized
        self._renewing: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    def start(self) -> None:
        """Subscribe to changes of settings."""
        self._env.store.subscribe(self._on_change)

    def stop(self) -> None:
        """Unsubscribe."""
        self._is_stopped = True
        self._env.store.unsubscribe(self._on_change)

    async def wait(self) -> None:
        """Wait until the settings that have changed so far are in use."""
        if self._renewing:
            await asyncio.wait(self._renewing)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == SETTINGS_CHANGED:
            self._spawn([decode_settings_change(change.payload)])
        elif change.topic == RESYNC:
            self._spawn(self._contexts.used)  # one that is being created may have read the old settings

    def _spawn(self, cookie_store_ids: list[str]) -> None:
        task = self._env.tasks.spawn(self._renew(cookie_store_ids))
        self._renewing.add(task)
        task.add_done_callback(self._renewing.discard)

    async def _renew(self, cookie_store_ids: list[str]) -> None:
        renewals = [self._contexts.renew(each, self._save, self._on_closed) for each in cookie_store_ids]
        await asyncio.gather(*renewals)
        await self._restart_for_proxy()

    async def _restart_for_proxy(self) -> None:
        """Restart the browser for the first proxy now: the user was asked about the input that is typed now.

        Not when the identity opens its first page, which may be much later.
        """
        if self._env.launched.blocks_webrtc or not await self._env.store.read(has_proxies):
            return
        if not self._is_stopped:
            self._env.delegate.restart_needed("an identity has a proxy now: WebRTC is limited to proxies")

    async def _save(self, context: IdentityContext) -> None:
        pages = [(tab_id, page) for tab_id, page in self._pages.items() if page in context.pages]
        await asyncio.gather(*(save_snapshot(self._env.delegate, tab_id, page) for tab_id, page in pages))

    def _on_closed(self, closed: list[LivePage]) -> None:
        for page in closed:
            self._minimized.discard(page)
        for tab_id in [tab_id for tab_id, page in self._pages.items() if page in closed]:
            del self._pages[tab_id]
            self._env.delegate.dropped(tab_id)


def has_proxies(transaction: Transaction) -> bool:
    """Whether an identity of the profile has a proxy. Settings that cannot be decoded count as one."""
    return any(_has_proxy(value) for _, value in transaction.settings.find(_SETTINGS))


def _has_proxy(stored: bytes) -> bool:
    try:
        return msgspec.json.decode(stored, type=dict[str, object]).get("proxy", "direct") != "direct"
    except msgspec.DecodeError:
        return True
