"""What an engine must do, and what it reports. The whole contract: who keeps an engine knows this module and no other.

An engine has pages, one for a tab. It knows neither the profile nor the rules for tabs: it is told what to do, does it,
and reports what became of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from hatbox.tabs.pages import PageState
from hatbox.tabs.tab_model import Tab

__all__ = ["Engine", "EngineDelegate", "PageState"]


class EngineDelegate(Protocol):
    """The reports of an engine. Each resolves when it is on disk, and only `opened` raises.

    A report about a page that the engine is closing, or about a tab that was closed, changes nothing. During a call of
    `open`, `navigate`, `activate` or `close`, reports about the same tab may wait for the call to end. So the engine
    must not await them in that call, except `keep` and `not_saved`.
    """

    async def navigation_started(self, tab_id: int, url: str) -> int | None:
        """A page goes somewhere by itself: a link, a form, a script. Returns the number of this load.

        None if another load was asked for meanwhile, which the engine will be told of, or has been.
        """

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        """What became of a load, or, where it is not done, how far it has come.

        `navigation` is its number: that of the Tab with which the load was asked for, or what `began` has returned.
        Without it, it is the latest load that the engine was told of, or has begun.
        """

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        """Keep this of a tab's page: `open` gets it when the page is to be as it was."""

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        """Typed text is lost, because the page is closed to hide it. `what` describes it for the user."""

    async def shown(self, tab_id: int) -> None:
        """The user has restored the minimised window with the page of a hidden tab."""

    async def page_opened(self, cookie_store_id: str, opener_id: int | None, *, active: bool = True) -> Tab:
        """A page has opened another, which stays in its identity. Returns its tab: the engine has the page already.

        It is not `active` if it was opened in the background.
        """

    async def page_activated(self, tab_id: int) -> None:
        """The user looks at this page now."""

    async def page_closed(self, tab_id: int) -> None:
        """The user, or a script, has closed this page."""

    def dropped(self, tab_id: int) -> None:
        """The browser context of this page was closed. The tab stays in the profile, and is opened again."""

    def engine_crashed(self, reason: str) -> None:
        """All pages are gone, and nobody closed them: the browser has died. The engine will be started again."""


class Engine(ABC):
    """Where the pages of tabs live.

    Of what it is told about one tab, one thing is over before the next begins; about several tabs, all at once.
    Whatever it raises is logged, and shown in the tab as the reason why there is no page.
    """

    name: ClassVar[str]
    """What users call it."""
    keeps_hidden_pages: ClassVar[bool]
    """Whether hidden tabs have pages. Where they do not, a page is closed to hide it, and opened to show it."""

    @abstractmethod
    async def start(self, reports: EngineDelegate) -> None:
        """Make ready for pages. Called again after all was lost. Raises EngineError, which says what to do."""

    @abstractmethod
    async def stop(self) -> None:
        """Keep what is to be kept, close all pages and let go of everything. Stopping twice is no error."""

    def loads_again(self, tab: Tab) -> bool:  # noqa: ARG002 - most engines need not know which tab
        """Whether `open` loads the page of this complete tab again. Then `tab.target` is `tab.url`."""
        return False

    @abstractmethod
    async def open(self, tab: Tab, kept: bytes | None) -> None:
        """Open the page of a tab and load `tab.target`. If that is `tab.url` or empty, restore the page from the
        snapshot `kept`, if there is one.

        Returns when the load has started; its result is reported. So does navigate.
        """

    @abstractmethod
    async def navigate(self, tab: Tab) -> None:
        """Load `tab.target` in the tab's page, in the place of whatever is loading there; `about:blank` is one too."""

    @abstractmethod
    async def activate(self, tab: Tab) -> None:
        """Bring the tab's page to the front."""

    @abstractmethod
    async def close(self, tab_id: int, *, to_hide: bool) -> None:
        """Close a tab's page, which may be closed already. To hide it, first save a snapshot to restore it from.

        A page to be hidden may stay alive in a minimised window until `open`, `stop` or the end of its tab.
        """

    @abstractmethod
    async def remove_identity(self, cookie_store_id: str) -> None:
        """Drop all that belongs to an identity that was removed. Its pages are closed by then."""
