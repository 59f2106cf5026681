"""The state of a page that its tab shows, and the progress of its navigation. Sends no commands to the browser."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

import msgspec

from hatbox.engines.base import PageState
from hatbox.engines.chromium.navigation_responses import NavigationResponse, NavigationResponses
from hatbox.engines.chromium.net_errors import BLOCKED_BY_CLIENT, UNAUTHORIZED, load_error_message
from hatbox.engines.chromium.ruled_navigation import BlockedPage, RequestedNavigation
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.tabs.tab_model import BLANK

__all__ = ["NavigationState"]

_MAX_BLOCKED_PAGES: Final = 64
_IN_WINDOW: Final = ": enter them in its window"
_IN_URL: Final = (
    ": there is no window to enter them in. Put them into the URL of page(), or handle webRequest.onAuthRequired"
)


class NavigationState:
    """Changes are reported to the tab, except while the page loads internal documents."""

    def __init__(self, responses: NavigationResponses, *, headless: bool) -> None:
        self.page = PageState(BLANK)
        self.reporter: TabReporter | None = None
        self.is_internal = False
        """Whether the page loads blank documents for the engine. No server gets a request, and nothing is reported."""
        self.is_requested = False
        """Whether the engine has requested a navigation that has not started."""
        self.is_committed = True
        """Whether the latest navigation has a document. A download and status 204 have none."""
        self.has_document = False
        """Whether a document of the tab was committed. Before that, the page is blank or internal."""
        self.is_download = False
        self.requested = RequestedNavigation()
        """The navigation that the engine has requested last."""
        self.requested_loader = ""
        """Its loaderId; empty until it has started."""
        self.blocked: BlockedPage | None = None
        """The page that is shown, if a rule has blocked it."""
        self._blocked_pages: OrderedDict[str, BlockedPage] = OrderedDict()  # by URL without fragment
        self._loaded_url = BLANK  # of the document
        self._set_url = ""  # the URL that a script of the page has set, without fragment; empty if none
        self.restored_title = ""
        """The saved title of a restored page, shown until the page has a title."""
        self._responses = responses
        self._sign_in_hint = _IN_URL if headless else _IN_WINDOW
        self._title_and_icon = ("", "")
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def tab_id(self) -> int | None:
        """The tab of the page; None before it has one."""
        return self.reporter.tab_id if self.reporter is not None else None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is loading."""
        return self._idle.is_set()

    async def wait_until_idle(self) -> None:
        """Wait until nothing is loading."""
        await self._idle.wait()

    def set_idle(self) -> None:
        """Nothing is loading any more."""
        self._idle.set()

    def set_loading(self) -> None:
        """A navigation was requested, or has started."""
        self._idle.clear()

    def commit(self, url: str, *, failed: bool = False) -> None:
        """A new document is committed; `failed` if it is Chromium's error page."""
        response = self._responses.get(url)
        self._loaded_url, self._set_url = url, ""
        self.blocked = self._blocked_page(url, response.failure) if failed else None
        if self.blocked is not None:
            self.page = PageState(url, error=self.blocked.outcome.message)
        elif failed:
            self.page = self._failed_page(url, response.failure)
        else:
            self._blocked_pages.pop(url.partition("#")[0], None)
            title, icon = self._title_and_icon
            self.page = PageState(url, title or self.restored_title, icon, response.status, response.content_type)
        self.report()

    def block(self, blocked: BlockedPage) -> None:
        """A rule has blocked a navigation. Chromium is about to show an error page."""
        self._blocked_pages[blocked.url.partition("#")[0]] = blocked
        if len(self._blocked_pages) > _MAX_BLOCKED_PAGES:
            self._blocked_pages.popitem(last=False)

    def was_blocked(self, url: str) -> bool:
        """Whether a rule has blocked this URL in this page. To load it again is no reload."""
        return url.partition("#")[0] in self._blocked_pages

    def is_unchecked(self, url: str) -> bool:
        """Whether rules have not allowed this URL in this page: see RequestedNavigation."""
        return self.was_blocked(url) or url.partition("#")[0] == self._set_url

    def fail(self, url: str, error: str) -> None:
        """End the navigation with an error."""
        self.is_requested = False
        self.is_committed = True
        self.set_idle()
        self.page = PageState(url, error=error)
        self.report()

    def move_within_document(self, url: str) -> None:
        """The URL has changed without a new document."""
        self.is_requested = False
        if self.has_document and not self.is_internal:
            without_fragment = url.partition("#")[0]
            self._set_url = "" if without_fragment == self._loaded_url.partition("#")[0] else without_fragment
        self.page = msgspec.structs.replace(self.page, url=url)
        self.report()

    def reset_title_and_icon(self) -> None:
        """A new document has neither title nor icon."""
        self._title_and_icon = ("", "")

    def set_title_and_icon(self, title: str, icon: str) -> None:
        """The title and icon of the document. It may be read before Chromium reports the commit."""
        self._title_and_icon = (title, icon)
        if self.is_committed and not self.page.error:
            if title:
                self.restored_title = ""
            self.page = msgspec.structs.replace(self.page, title=title or self.restored_title, icon=icon)
            self.report()

    def on_response(self, url: str, response: NavigationResponse) -> None:
        """Add a response that arrives after its document was committed. `url` has no fragment."""
        if url == self.page.url.partition("#")[0] and self.page.http_status is None and not self.page.error:
            self.page = msgspec.structs.replace(
                self.page, http_status=response.status, content_type=response.content_type
            )
            self.report()

    def on_download(self) -> None:
        """The navigation is a download."""
        self.is_download = True
        if not self.has_document and self.is_idle:
            self.report()

    def report(self) -> None:
        """Report the state to the tab."""
        if self.reporter is None or self.is_internal or self.is_requested:
            return
        if self.is_idle or self.is_committed:  # otherwise this is the state of the previous document
            # A tab without a document whose navigation is a download becomes blank, also if it was restored: the next
            # start must not repeat the download.
            stopped = not self.is_committed and not (self.is_download and not self.has_document)
            self.reporter.page_changed(msgspec.structs.replace(self.page, stopped=stopped), done=self.is_idle)

    def _blocked_page(self, url: str, failure: str) -> BlockedPage | None:
        return self._blocked_pages.get(url.partition("#")[0]) if failure in ("", BLOCKED_BY_CLIENT) else None

    def _failed_page(self, url: str, failure: str) -> PageState:
        error = load_error_message(failure, url) if failure else "the page could not be loaded"
        if failure != UNAUTHORIZED:
            return PageState(url, error=error)
        # Chromium commits an empty document below its dialog, and loads the page after the user has signed in.
        return PageState(url, http_status=401, error=f"{error}{self._sign_in_hint}")
