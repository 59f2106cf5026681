"""Shows the start page in blank tabs of the user, and updates it when the profile changes."""

from __future__ import annotations

import contextlib
from typing import Final

from hatbox.cookies.cookie_expiry import ExpiredCookies
from hatbox.cookies.cookie_stores import CookieChange
from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.start_page.start_page import StartPage
from hatbox.errors import ProfileError
from hatbox.extension_data.run_records import STARTED, STOPPED, get_all
from hatbox.extension_data.ui_changes import UI_CHANGED
from hatbox.identity.ids import user_context_id_of
from hatbox.identity.model import HIDDEN, SETTINGS_CHANGED, SHOWN
from hatbox.identity.model import UPDATED as IDENTITY_UPDATED
from hatbox.site_rules.site_rule import RULES_CHANGED
from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.store.process_exits import ProcessExits
from hatbox.tabs.tab_model import ACTIVATED, ATTACHED, CREATED, MOVED, NAVIGATED, REMOVED, UPDATED, Tab

__all__ = ["StartPages"]

_OF_IDENTITY: Final = frozenset(
    {CREATED, UPDATED, REMOVED, NAVIGATED, IDENTITY_UPDATED, SETTINGS_CHANGED, HIDDEN, SHOWN}
)
"""Topics whose payload names the cookieStoreId."""
_START_PAGE: Final = "start page"
_OF_ALL: Final = frozenset({ACTIVATED, MOVED, ATTACHED, STARTED, STOPPED, UI_CHANGED})


class StartPages:
    """The start pages of one browser. Without the indicator, which shows pages to people, it shows none."""

    def __init__(self, env: BrowserEnvironment) -> None:
        self._env = env
        self._shown: set[StartPage] = set()
        self._exits = ProcessExits(self._on_extensions_changed)

    def show(self, page: LivePage, tab: Tab) -> None:
        """Show the start page in the blank page of a tab, unless a script controls it or a client of an endpoint was
        attached to it, whose scripts would see it."""
        scripts, clients = self._env.services.script_pages, self._env.services.endpoint_pages
        is_of_script = scripts.includes(tab.id, tab.opener_id, tab.cookie_store_id)
        if not self._env.options.indicator or is_of_script or clients.is_driven(page.target_id):
            return
        if not self._shown:
            self._env.store.subscribe(self._on_change)
            self._env.services.cookie_stores.on_changed.add_listener(self._on_cookie_changed)
            self._env.services.cookie_stores.expiry.on_expired.add_listener(self._on_cookies_expired)
            self._env.tasks.spawn(self._watch_extensions())
        # It shows tabs, rules and extensions of the profile.
        clients.withhold(page.target_id, _START_PAGE)
        shown = StartPage(page, tab, self._env.services, self._env.tasks, self._on_ended)
        self._shown.add(shown)
        self._env.tasks.spawn(shown.show())

    def stop(self) -> None:
        """Ignore further changes of the profile: the browser is stopped, or has ended."""
        for each in [*self._shown]:
            each.end()

    def _on_ended(self, page: StartPage) -> None:
        if page in self._shown:
            self._shown.discard(page)
            self._env.services.endpoint_pages.release(page.target_id, _START_PAGE)
            if not self._shown:
                self._env.store.unsubscribe(self._on_change)
                self._env.services.cookie_stores.on_changed.remove_listener(self._on_cookie_changed)
                self._env.services.cookie_stores.expiry.on_expired.remove_listener(self._on_cookies_expired)
                self._exits.stop()

    def _on_cookie_changed(self, change: CookieChange) -> None:
        for page in self._shown:
            if page.cookie_store_id == change.cookie_store_id:
                page.cookies_changed()

    def _on_cookies_expired(self, expired: ExpiredCookies) -> None:
        for page in self._shown:
            if expired.all or user_context_id_of(page.cookie_store_id) in expired.stores:
                page.cookies_changed()

    async def _watch_extensions(self) -> None:
        """Notice that the process of an extension was killed: its button goes."""
        with contextlib.suppress(ProfileError):
            runs = await self._env.store.read(get_all)
            self._exits.watch({run.process_id for run in runs} if self._shown else ())

    def _on_extensions_changed(self) -> None:
        for page in self._shown:
            page.changed()

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic in (STARTED, STOPPED, RESYNC):
            self._env.tasks.spawn(self._watch_extensions())
        for page in self._shown:
            named = f'"{page.cookie_store_id}"'.encode()
            if change.topic == RESYNC:
                page.cookies_changed()
                page.rules_changed()
            elif change.topic == RULES_CHANGED:
                page.rules_changed()
            elif change.topic in _OF_ALL or (change.topic in _OF_IDENTITY and named in change.payload):
                page.changed()
