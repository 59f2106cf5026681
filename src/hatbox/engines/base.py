"""What an engine must do, and what it reports. The whole contract: who keeps an engine knows this module and no other.

An engine has pages, one for a tab. It knows neither the profile nor the rules for tabs: it is told what to do, does it,
and reports what became of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from hatbox.tabs.model import Tab
from hatbox.tabs.pages import Page

__all__ = ["Engine", "Page", "Reports"]


class Reports(Protocol):
    """What an engine tells. Each resolves when it is on disk, and none but `opened` raises.

    What is about a page that the engine was told to close, or about a tab that is gone, changes nothing. While the
    engine is being told something about a tab, what it reports about that tab may have to wait: so it must not await a
    report of a tab in its own `open`, `navigate`, `activate` or `close` of it; `keep` and `not_saved` excepted.
    """

    async def began(self, tab_id: int, url: str) -> int | None:
        """A page goes somewhere by itself: a link, a form, a script. Returns the number of this load.

        None if another load was asked for meanwhile, which the engine will be told of, or has been.
        """

    async def loaded(self, tab_id: int, page: Page, *, done: bool = True, navigation: int | None = None) -> None:
        """What became of a load, or, where it is not done, how far it has come.

        `navigation` is its number: that of the Tab with which the load was asked for, or what `began` has returned.
        Without it, it is the latest load that the engine was told of, or has begun.
        """

    async def keep(self, tab_id: int, page: bytes) -> None:
        """Keep this of a tab's page: `open` gets it when the page is to be as it was."""

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        """What the user has typed into a page that is being closed to hide it, and is lost: in words for people."""

    async def shown(self, tab_id: int) -> None:
        """The user has brought back the page of a hidden tab, which the engine had not closed."""

    async def opened(self, cookie_store_id: str, opener_id: int | None, *, active: bool = True) -> Tab:
        """A page has opened another, which stays in its identity. Returns its tab: the engine has the page already.

        It is not `active` where it was opened in the background.
        """

    async def activated(self, tab_id: int) -> None:
        """The user looks at this page now."""

    async def closed(self, tab_id: int) -> None:
        """The user, or a script, has closed this page."""

    def dropped(self, tab_id: int) -> None:
        """This page is gone, and was not closed as a tab is: its context was. The tab stays, and is opened again."""

    def lost(self, reason: str) -> None:
        """All pages are gone, and nobody closed them: the browser has died. The engine will be started again."""


class Engine(ABC):
    """Where the pages of tabs live.

    Of what it is told about one tab, one thing is over before the next begins; about several tabs, all at once.
    Whatever it raises is logged, and shown in the tab as the reason why there is no page.
    """

    name: ClassVar[str]
    """What users call it."""
    keeps_hidden: ClassVar[bool]
    """Whether hidden tabs have pages. Where they do not, a page is closed to hide it, and opened to show it."""

    @abstractmethod
    async def start(self, reports: Reports) -> None:
        """Make ready for pages. Called again after all was lost. Raises EngineError, which says what to do."""

    @abstractmethod
    async def stop(self) -> None:
        """Keep what is to be kept, close all pages and let go of everything. Stopping twice is no error."""

    def loads_again(self, tab: Tab) -> bool:  # noqa: ARG002 - most engines need not know which tab
        """Whether `open` of this complete tab loads its page again. Then that is a load: `tab.target` is `tab.url`."""
        return False

    @abstractmethod
    async def open(self, tab: Tab, kept: bytes | None) -> None:
        """Make the page of a tab. Loads `tab.target`. If that is `tab.url` or empty, it shows the page again, as it was
        if something was kept.

        Returns when that has begun; the rest is reported. So does navigate.
        """

    @abstractmethod
    async def navigate(self, tab: Tab) -> None:
        """Load `tab.target` in the tab's page, in the place of whatever is loading there; `about:blank` is one too."""

    @abstractmethod
    async def activate(self, tab: Tab) -> None:
        """Bring the tab's page to the front."""

    @abstractmethod
    async def close(self, tab_id: int, *, to_hide: bool) -> None:
        """Close a tab's page. To hide it, first keep what is needed to show it again; it is no error if it is gone.

        A page that is to be hidden may stay alive where nobody sees it, until `open`, `stop` or the end of its tab.
        """

    @abstractmethod
    async def forget(self, cookie_store_id: str) -> None:
        """Drop all that belongs to an identity that was removed. Its pages are closed by then."""
