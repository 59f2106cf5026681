"""The interface for tabs whose URLs Chromium cannot load itself: pages of extensions. Contains only declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hatbox.tabs.tab_model import Tab

if TYPE_CHECKING:
    from playwright.async_api import Page

    from hatbox.engines.chromium.browser_environment import BrowserEnvironment

__all__ = ["HostedPages"]


class HostedPages(Protocol):
    """Opens pages in browser contexts of its own, and reports them to the delegate of the engine."""

    @property
    def tabs(self) -> set[int]:
        """The ids of tabs with a page."""

    @property
    def has_extensions(self) -> bool:
        """Whether extensions run in this process."""

    def serves(self, url: str) -> bool:
        """Whether it can load a URL now."""

    def page_of(self, tab_id: int) -> Page | None:
        """The page of a tab; None if it has none."""

    async def start(self, env: BrowserEnvironment) -> None:
        """The browser was launched."""

    def is_in(self, env: BrowserEnvironment) -> bool:
        """Whether it shows its pages in this browser. With several, it shows them in the first one."""

    async def stop(self, env: BrowserEnvironment) -> None:
        """Save data, and close all pages: the browser is about to be closed."""

    def abandon(self, env: BrowserEnvironment) -> None:
        """The browser has crashed, or another engine has the tabs: save nothing."""

    async def open(self, tab: Tab) -> None:
        """Open the page of a tab, and start loading `tab.pending_url` or `tab.url`."""

    async def navigate(self, tab: Tab) -> None:
        """Load `tab.pending_url` or `tab.url` in the page of a tab."""

    async def activate(self, tab_id: int) -> None:
        """Bring the page of a tab to the front."""

    async def close(self, tab_id: int) -> None:
        """Close the page of a tab."""

    async def wait_until_loaded(self, tab_id: int) -> None:
        """Wait until nothing is loading in the page of a tab."""
