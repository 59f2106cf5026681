"""One page of the browser: attaches to its target, and connects the parts that navigate, observe and save it.

Knows neither identities nor the profile. Its CDP session is separate from Playwright's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.engines.chromium.blank_documents import BlankDocuments
from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.cookie_polling import CookiePoller
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.identity_indicator import IdentityIndicator
from hatbox.engines.chromium.interstitial import Interstitial
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.navigation_responses import NavigationResponses
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.openers import Openers
from hatbox.engines.chromium.page_navigation import PageNavigation
from hatbox.engines.chromium.page_snapshot import PageSnapshot
from hatbox.engines.chromium.page_storage import PageStorage
from hatbox.engines.chromium.page_typed_input import PageTypedInput
from hatbox.engines.chromium.ruled_navigation import BlockedPage
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.engines.chromium.snapshot_saver import SnapshotSaver
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.tasks import Tasks

__all__ = ["ContextServices", "LivePage"]

logger = logging.getLogger("hatbox.engines.chromium")

_INTERSTITIAL: Final = "interstitial"


class ContextServices(NamedTuple):
    """Parts of a browser context that its pages use."""

    browser_session: Session
    responses: NavigationResponses
    cookies: CookiePoller
    site_data: SiteDataSync
    openers: Openers
    on_focus: Callable[[LivePage], None]
    """Called when the user focuses a page."""
    on_choice: Callable[[LivePage, BlockedPage, str], None]
    """Called when the user chooses an identity, a cookieStoreId, for a page that a rule has blocked."""
    on_link: Callable[[LivePage, str], None]
    """Called when the user clicks a link of the form ext+name:… in a page."""
    endpoint_pages: EndpointPages
    """The pages that clients of endpoints do not see."""
    user_agent: dict[str, Any] | None = None
    """The params of Emulation.setUserAgentOverride, if the identity has a User-Agent of its own."""


class LivePage:
    """A page of the browser. Attach to it, assign it to a tab, then load a URL."""

    def __init__(
        self,
        page: PlaywrightPage,
        session: Session,
        services: ContextServices,
        indicator: IdentityIndicator | None,
        *,
        headless: bool,
    ) -> None:
        self.page = page
        """The page for Playwright."""
        self.target_id = self.context_id = ""
        self.opener_id: str | None = None
        """The target of the page that opened this one."""
        self.is_crashed = False
        self.is_closing = False
        """Whether the engine closes the page."""
        self.is_closed_alone = False
        """Whether the page was closed while its context stayed open."""
        self.session = session
        """Its CDP session."""
        self._services = services
        self._headless = headless
        self._tasks = Tasks(self._on_task_error)
        self._restored_scroll: tuple[float, float] | None = None
        self.world = IsolatedWorld(session, indicator, self._on_message)
        self.state = NavigationState(services.responses, headless=headless)
        self.blank = BlankDocuments(session, self.world, self.state, self._tasks)
        self.navigation = PageNavigation(page, session, self.world, self.blank, self.state, self, self._tasks)
        self.interstitial = Interstitial(session, lambda blocked, choice: services.on_choice(self, blocked, choice))
        self.storage = PageStorage(session, self.state, services.cookies, services.site_data, self._tasks)
        self.snapshots = SnapshotSaver(session, self.world, self.state, lambda: self.typed_input.unfilled)
        # A new snapshot removes typed text that was filled in from the profile.
        self.typed_input = PageTypedInput(page, self.world, self.state, self.snapshots.schedule)
        session.on("Page.frameRequestedNavigation", log_exceptions(self._on_requested))
        session.on("Page.frameStartedNavigating", log_exceptions(self._on_navigating))
        session.on(
            "Page.frameStoppedLoading", log_exceptions(lambda each: services.endpoint_pages.loaded(each["frameId"]))
        )
        session.on("Page.frameDetached", log_exceptions(self._on_detached))
        page.on("crash", log_exceptions(self._on_crash))
        page.on("download", log_exceptions(lambda _: self.state.on_download()))
        if not headless:
            page.on("dialog", lambda _: None)  # without a listener, Playwright closes dialogs

    @classmethod
    async def attach(
        cls, page: PlaywrightPage, services: ContextServices, indicator: IdentityIndicator | None, *, headless: bool
    ) -> LivePage:
        """Attach to a page, and start observing it."""
        session = await Session.of_page(page)
        live = cls(page, session, services, indicator, headless=headless)
        info, *_ = await asyncio.gather(
            session.send("Target.getTargetInfo"),
            session.send("Page.enable"),
            live.world.start(),
            session.send("DOMStorage.enable"),
            live._use_real_focus(),
            live._override_user_agent(),
        )
        live.target_id = info["targetInfo"]["targetId"]
        live.context_id = info["targetInfo"].get("browserContextId", "")
        live.opener_id = info["targetInfo"].get("openerId")
        return live

    @property
    def tab_id(self) -> int | None:
        """The tab of the page; None before `assign`."""
        return self.state.tab_id

    def assign(self, reporter: TabReporter) -> None:
        """Report the state of the page to this tab from now on."""
        self.state.reporter = reporter

    def load(
        self,
        url: str,
        navigation_id: int,
        snapshot: PageSnapshot | None = None,
        *,
        restored_title: str = "",
        fallback_url: str = "",
        is_again: bool = False,
    ) -> None:
        """Start loading a URL, and restore the snapshot. Replaces a load in progress.

        The tab shows `restored_title` until the page has a title. The page loads `fallback_url` if the navigation ends
        as a download or with an empty response and the tab has no document yet. `is_again` if the tab has shown the
        URL: rules do not reopen it.
        """
        self.state.restored_title = restored_title
        self._restored_scroll = snapshot.scroll if snapshot else None
        self.typed_input.fill_later(snapshot.forms if snapshot else ())
        self.navigation.load(url, navigation_id, snapshot, fallback_url, is_again=is_again)

    async def block_requests(self) -> None:
        """Block all requests. A page that is only offline may still send one that outlives it when it is closed."""
        await self.session.send("Network.enable")
        await self.session.send("Network.setBlockedURLs", {"urls": ["*"]})

    def stop_reporting(self) -> None:
        """Report no more changes of the page: its tab is hidden, or the page is being closed."""
        if self.state.reporter is not None:
            self.state.reporter.stop()

    def resume(self) -> None:
        """The tab is shown again: report the current state of the page."""
        self.state.report()
        self.snapshots.save_next()

    async def close(self) -> None:
        """Close the page, with a timeout. No changes are reported any more."""
        self.is_closing = True
        self.detach()
        try:
            await close_page(self.page, self.target_id, self._services.browser_session)
        except PlaywrightError as error:
            logger.warning("tab %s: the page stays open until its context is closed: %s", self.tab_id, error)

    def detach(self) -> None:
        """Stop all work for a page that is closed or being closed."""
        self.state.set_idle()
        self.stop_reporting()
        self.snapshots.cancel()
        self._tasks.cancel()

    # -------------------------------------------------------------------------------------------------- navigation

    def navigation_started(self) -> None:
        """See NavigationDelegate."""
        self.interstitial.remove()
        self.typed_input.abandon()
        self._services.site_data.flush()

    def document_replaced(self) -> None:
        """See NavigationDelegate."""
        self.typed_input.on_document_replaced()
        self.storage.on_document_end()
        self.snapshots.scroll_position = (0, 0)
        if not self.world.is_connected:
            self.storage.needs_cookie_polling = False

    def document_committed(self, url: str) -> None:
        """See NavigationDelegate."""
        self._tasks.spawn(self._use_real_focus())
        self.storage.track(url)
        self.show_blocked()

    def show_blocked(self) -> None:
        """Show in the error page why a rule has blocked the navigation, if one has.

        It may name other identities, so clients of endpoints do not see it.
        """
        pages = self._services.endpoint_pages
        if self.state.blocked is None:
            pages.release(self.target_id, _INTERSTITIAL)
            return
        if not self.state.blocked.is_of_program:
            pages.withhold(self.target_id, _INTERSTITIAL)
        self._tasks.spawn(self.interstitial.show(self.target_id, self.state.blocked))

    def same_document_navigation(self) -> None:
        """See NavigationDelegate."""
        self.snapshots.schedule()

    def navigation_completed(self) -> None:
        """See NavigationDelegate."""
        self.storage.save_later(self.state.page.url)
        self.snapshots.schedule()
        position, self._restored_scroll = self._restored_scroll, None
        if not self.world.is_connected and not self.state.page.error:
            self._tasks.spawn(self.world.inject(self.target_id))
        elif position is not None and position != (0, 0):
            x, y = position
            self._tasks.spawn(self.world.evaluate_in_main_frame(f"hatboxScroll({x}, {y})"))

    # ------------------------------------------------------------------------------------------------------ events

    def _on_message(self, message: str, args: list[Any]) -> None:
        """A message of page_observer.js or typed_input.js."""
        if message == "document":
            _, origin, is_secure = args
            self.state.reset_title_and_icon()
            self.storage.on_document(origin, is_secure=is_secure)
            self.blank.on_progress()
        if self.state.is_internal:
            return
        self.storage.on_message(message)
        if message == "document" and self.typed_input.unfilled:
            self._tasks.spawn(self.typed_input.fill(args[1]))
        elif message == "frame" and self.typed_input.unfilled:
            self._tasks.spawn(self.typed_input.fill(*args))
        elif message == "filled":
            self.typed_input.on_form_filled(*args)
        elif message == "titleAndIcon":
            self.state.set_title_and_icon(*args)
        elif message == "scroll":
            self.snapshots.scroll_position = (args[0], args[1])
            self.snapshots.schedule()
        elif message == "focus":
            self._services.on_focus(self)
        elif message == "link" and args and isinstance(args[0], str) and not self._is_driven():
            self._services.on_link(self, args[0])

    def _is_driven(self) -> bool:
        """Whether a click in the page may be that of a program, and not of the user."""
        return self._services.endpoint_pages.is_driven(self.target_id, self.context_id)

    def _on_requested(self, event: dict[str, Any]) -> None:
        if not self.state.is_internal:
            self._services.openers.request(self.target_id, event["url"], event["disposition"])

    def _on_navigating(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.target_id:
            self._services.endpoint_pages.navigating(self.target_id, event["url"])

    def _on_detached(self, event: dict[str, Any]) -> None:
        if event.get("reason") == "swap":  # a cross-site frame, shown by another process
            self.typed_input.on_cross_site_frame()
            self.storage.on_cross_site_frame()

    def _on_crash(self, _: PlaywrightPage) -> None:
        self.is_crashed = True
        self.world.reset()  # nothing in it answers any more
        self.storage.on_document_end()
        self.state.fail(self.state.page.url, "the page has crashed")

    async def _use_real_focus(self) -> None:
        """Playwright emulates focus in every page, again in each new process. In headed mode only one page has it."""
        if not self._headless:
            await self.session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})

    async def _override_user_agent(self) -> None:
        """Set what Playwright's override of the User-Agent leaves as it is: navigator.platform and client hints."""
        if self._services.user_agent is not None:
            await self.session.send("Emulation.setUserAgentOverride", self._services.user_agent)

    def _on_task_error(self, error: BaseException) -> None:
        level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
        logger.log(level, "tab %s: background task of the page failed", self.tab_id, exc_info=error)
