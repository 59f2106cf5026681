"""Runs Chromium on a profile and returns Playwright pages and contexts. The public Python API of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import BrowserContext, Page

from hatbox.engines.chromium.engine import ChromiumEngine
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identities.model import IdentityLike
from hatbox.identities.service import Identities
from hatbox.store.base import Store
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK

__all__ = ["ChromiumRunner"]


class ChromiumRunner(EngineRunner):
    """Shows the tabs of a profile in a browser, for the duration of `async with`."""

    engine: ChromiumEngine

    def __init__(
        self,
        engine: ChromiumEngine,
        store: Store,
        identities: Identities,
        tabs: Tabs,
        only: IdentityLike | Sequence[IdentityLike] | None = None,
    ) -> None:
        super().__init__(engine, store, only)
        self._identities = identities
        self._tabs = tabs

    async def new_page(self, identity: IdentityLike, url: str = BLANK) -> Page:
        """Open a tab in an identity; returns its page when it has loaded.

        A failed load raises no error: `Tab.error` has the reason. A user name and a password in the URL are used and
        not stored. Raises EngineError, and opens no tab, if another engine serves the identity.
        """
        await self._served_id(identity)
        return await self.page(await self._open(identity, url))

    async def page(self, tab_id: int) -> Page:
        """The page of a tab, when it has loaded. Raises EngineError if the tab is hidden or has no page."""
        await self.wait_until_settled()
        page = self.engine.page_of(tab_id)
        if page is None:
            tab = await self._tabs.get(tab_id)
            why = "it is hidden. Show its identity first." if tab.hidden else tab.error or "it was closed"
            if not self.serves(tab.cookie_store_id):
                why = f"this engine does not serve {tab.cookie_store_id}"
            raise EngineError(f"tab {tab_id} has no page: {why}")
        await self.engine.wait_until_loaded(tab_id)
        await self.wait_until_loaded(tab_id)
        return page

    async def stop(self) -> None:
        """Stop the browser. Tabs stay in the profile, except those whose pages were closed."""
        await self.engine.wait_until_closed()
        await super().stop()

    async def wait_until_synced(self) -> None:
        """Wait until the browser and the profile have the same cookies, removed site data is gone from the browser, and
        added webRequest listeners receive requests."""
        await self.engine.wait_until_synced()

    async def context(self, identity: IdentityLike) -> BrowserContext:
        """The browser context of an identity. A page opened in it becomes a tab of the profile."""
        return await self.engine.context_of(await self._served_id(identity))

    async def _served_id(self, identity: IdentityLike) -> str:
        is_default = identity == DEFAULT_COOKIE_STORE_ID
        found = DEFAULT_COOKIE_STORE_ID if is_default else (await self._identities.resolve(identity)).cookie_store_id
        if not self.serves(found):
            raise EngineError(f"this engine does not serve {found}. List running engines with: hatbox status")
        return found

    async def _open(self, identity: IdentityLike, url: str) -> int:
        stored = without_credentials(url)
        if stored == url:
            tab = await self._tabs.open(identity, url)
            self.engine.script_pages.add_tab(tab.id)
            return tab.id
        tab = await self._tabs.open(
            identity
        )  # first blank: the engine needs the URL with its credentials before it loads the tab
        self.engine.script_pages.add_tab(tab.id)
        self.engine.use_credentials(tab.id, url)
        await self._tabs.navigate(tab.id, stored)
        return tab.id
