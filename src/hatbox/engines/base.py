"""The contract of engines, and of the delegate that receives their reports.

An engine has pages, one for each tab. It knows neither the profile nor the rules for tabs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

import msgspec

from hatbox.tabs.pages import PageState
from hatbox.tabs.tab_model import Tab

__all__ = ["Engine", "EngineDelegate", "EngineOptions", "PageState"]


class EngineOptions(msgspec.Struct, frozen=True):
    """The options with which an engine runs, for programs that want to use it."""

    browser: str = ""
    """The path of its browser, with symbolic links resolved."""
    downloads: str = ""
    """The absolute path of the folder of its downloads; empty if they are deleted with the browser."""
    indicator: bool = False
    """Whether its pages show the identity."""


class EngineDelegate(Protocol):
    """Receives the reports of an engine. Each resolves when it is durable, and only `page_opened` raises.

    A report about a page that the engine is closing, or about a tab that was closed, changes nothing. During a call of
    `open`, `navigate`, `activate` or `close`, reports about the same tab may wait for the call to end. So the engine
    must not await them in that call, except `save_snapshot` and `not_saved`.
    """

    async def navigation_started(self, tab_id: int, url: str) -> int | None:
        """The page started a navigation (link, form or script). Returns the navigation id.

        None if another navigation was requested meanwhile; the engine receives that one.
        """

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        """The state of a navigation: complete, or in progress if not `done`.

        `navigation` is its id: `navigation_id` of the Tab that requested it, or the result of `navigation_started`. By
        default the last one that the engine received or started.
        """

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        """Save a snapshot of a page, from which `open` restores it."""

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        """Typed text is lost, because the page is closed to hide it. `what` describes it for the user."""

    async def shown(self, tab_id: int) -> None:
        """The user has restored the minimized window with the page of a hidden tab."""

    async def page_opened(self, cookie_store_id: str, opener_id: int | None, *, active: bool = True) -> Tab:
        """A page opened another page, in the same identity. Returns the new tab, whose page exists already.

        It is not `active` if it was opened in the background.
        """

    async def link_followed(self, tab_id: int, link: str) -> None:
        """The user clicked a link of the form ext+name:… in this page. An extension may handle its scheme."""

    async def page_activated(self, tab_id: int) -> None:
        """The user activated this page."""

    async def page_closed(self, tab_id: int) -> None:
        """The user or a script closed this page."""

    def dropped(self, tab_id: int) -> None:
        """The browser context of this page was closed. The tab stays in the profile, and is opened again."""

    def engine_crashed(self, reason: str) -> None:
        """The browser crashed, and all pages with it. The engine is started again."""

    def restart_needed(self, reason: str) -> None:
        """The engine must be started again with other options. `start` first saves and closes all pages."""


class Engine(ABC):
    """Opens pages for tabs.

    Calls about one tab are made one after the other, calls about different tabs concurrently. Exceptions are logged,
    and shown in the tab as the error of its page.
    """

    name: ClassVar[str]
    """The name of the engine in messages."""
    keeps_hidden_pages: ClassVar[bool]
    """Whether hidden tabs have pages. Where they do not, a page is closed to hide it, and opened to show it."""

    @property
    def has_windows(self) -> bool:
        """Whether it shows windows to a user."""
        return False

    @property
    def options(self) -> EngineOptions:
        """Its options."""
        return EngineOptions()

    @abstractmethod
    async def start(self, delegate: EngineDelegate) -> None:
        """Start the engine. Called again after a crash. Raises EngineError."""

    @abstractmethod
    async def stop(self) -> None:
        """Save snapshots and site data, close all pages and shut down. Stopping twice has no effect."""

    def stop_saving(self) -> None:  # noqa: B027 - most engines write only what they report
        """Write nothing more to the profile, from this call on: another engine may have opened the tabs already."""

    async def abandon(self) -> None:
        """Close all pages and shut down at once, after stop_saving()."""
        await self.stop()

    def loads_again(self, tab: Tab) -> bool:  # noqa: ARG002 - most engines need not know which tab
        """Whether `open` loads the page of this complete tab again. Then `tab.pending_url` is `tab.url`."""
        return False

    @abstractmethod
    async def open(self, tab: Tab, snapshot: bytes | None) -> None:
        """Open the page of a tab and load `tab.pending_url`. If that is `tab.url` or empty, restore the page from the
        `snapshot`, if it exists.

        Returns when the navigation has started. Its result is reported. The same holds for navigate.
        """

    @abstractmethod
    async def navigate(self, tab: Tab) -> None:
        """Load `tab.pending_url`, which may be about:blank, replacing a navigation in progress."""

    @abstractmethod
    async def activate(self, tab: Tab) -> None:
        """Bring the tab's page to the front."""

    @abstractmethod
    async def close(self, tab_id: int, *, hiding: bool) -> None:
        """Close a tab's page, which may be closed already. To hide it, first save a snapshot to restore it from.

        A page to be hidden may stay alive in a minimized window until `open`, `stop` or the end of its tab.
        """

    async def input_at_risk(
        self,
        cookie_store_id: str,  # noqa: ARG002 - most engines have no typed text
        *,
        uses_proxy: bool,  # noqa: ARG002
    ) -> dict[int, tuple[str, ...]]:
        """Typed text that is lost if the settings of an identity change: descriptions without the text, by tab id.

        `uses_proxy` says whether it then has a proxy.
        """
        return {}

    async def release_identity(self, cookie_store_id: str) -> None:
        """Save and close what is left of an identity after its tabs were hidden: another engine opens them now."""
        await self.remove_identity(cookie_store_id)

    @abstractmethod
    async def remove_identity(self, cookie_store_id: str) -> None:
        """Remove the data of a removed identity. Its pages are closed."""
