"""The tabs of an engine: their desired state, from the profile, and their actual state, from the engine."""

from __future__ import annotations

import asyncio

from hatbox.tabs.tab_model import Tab

__all__ = ["TabState", "TabStates"]


class TabState:
    """One tab: desired state, actual state, and the task that makes them equal."""

    def __init__(self, cookie_store_id: str) -> None:
        self.cookie_store_id = cookie_store_id
        self.desired: Tab | None = None
        self.actual: Tab | None = None
        """The tab as the engine knows it; None if it has no page, or is closing it."""
        self.hidden = False
        self.discarded = False
        """The tab has no page until it is activated or navigated."""
        self.failed = False
        """Opening the page failed. The next navigation opens it again."""
        self.closed = False
        """The user closed the page, and the tab is about to be removed."""
        self.released = False
        """Another engine serves the identity of the tab."""
        self.removed = False
        """The tab was closed."""
        self.navigation = 0
        """The last navigation that the engine has received or started."""
        self.not_saved: tuple[str, ...] = ()
        """Typed text that is lost by hiding the page."""
        self.lock = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no task is applying the desired state."""
        return self.task is None or self.task.done()


class TabStates(dict[int, TabState]):
    """The tabs that have a page, or had one, by tab id."""

    def __init__(self) -> None:
        super().__init__()
        self.comparing = asyncio.Lock()
        """Locked while the tabs of the profile are compared with these."""
        self.identities: set[str] = set()
        """The cookieStoreIds of identities that have had pages."""

    def with_page(self, tab_id: int) -> TabState | None:
        """The tab, if the engine has a page for it and is not closing it."""
        state = self.get(tab_id)
        return state if state is not None and state.actual is not None else None
