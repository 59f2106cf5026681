"""Chromium at work on a profile, for Python: pages and contexts as Playwright has them."""

from __future__ import annotations

from playwright.async_api import BrowserContext, Page

from hatbox.engines.chromium.engine import ChromiumEngine
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import IdentityLike
from hatbox.identities.service import Identities
from hatbox.store.base import Store
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK

__all__ = ["ChromiumRunner"]


class ChromiumRunner(EngineRunner):
    """A browser that shows the tabs of a profile while it is entered."""

    engine: ChromiumEngine

    def __init__(self, engine: ChromiumEngine, store: Store, identities: Identities, tabs: Tabs) -> None:
        super().__init__(engine, store)
        self._identities = identities
        self._tabs = tabs

    async def page(self, identity: IdentityLike | int, url: str = BLANK) -> Page:
        """A new page in an identity, as a tab of the profile, when it has loaded; or that of a tab, by its id.

        A failed load raises no error: the tab has the reason. A user name and a password in the URL are used and not
        stored.
        """
        tab_id = identity if isinstance(identity, int) else await self._open(identity, url)
        await self.wait_until_settled()
        page = self.engine.page_of(tab_id)
        if page is None:
            tab = await self._tabs.get(tab_id)
            why = "it is hidden: show its identity first" if tab.hidden else tab.error or "it was closed"
            raise EngineError(f"tab {tab_id} has no page: {why}")
        await self.engine.loaded(tab_id)
        await self.wait_until_loaded(tab_id)
        return page

    async def _open(self, identity: IdentityLike, url: str) -> int:
        stored = without_credentials(url)
        if stored == url:
            return (await self._tabs.open(identity, url)).id
        tab = await self._tabs.open(identity)  # load the URL after its id is known: the engine might load it first
        self.engine.sign_in(tab.id, url)
        await self._tabs.navigate(tab.id, stored)
        return tab.id

    async def stop(self) -> None:
        """See EngineRunner."""
        await self.engine.wait_until_closed()
        await super().stop()

    async def wait_until_synced(self) -> None:
        """Resolves when the cookies in the browser and in the profile are the same, what was removed of what pages keep
        is gone, and listeners that were added hear of requests. All that is so soon anyway."""
        await self.engine.synced()

    async def context(self, identity: IdentityLike) -> BrowserContext:
        """The browser context of an identity; pages that are opened in it become tabs of the profile."""
        if identity == DEFAULT_STORE:
            return await self.engine.context_of(DEFAULT_STORE)
        return await self.engine.context_of((await self._identities.resolve(identity)).cookie_store_id)
