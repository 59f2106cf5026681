"""Derives the events of webNavigation from those of tabs, while they have listeners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hatbox.api.namespaces.web_navigation.navigation_frames import MAIN_FRAME, NO_PARENT
from hatbox.clock import Clock
from hatbox.events import Event
from hatbox.tabs.credentials import without_secrets
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK, Tab, TabRemoval, TabUpdate

__all__ = ["NavigationEvents"]

_NAMES: Final = (
    "onCreatedNavigationTarget",
    "onBeforeNavigate",
    "onCommitted",
    "onDOMContentLoaded",
    "onCompleted",
    "onErrorOccurred",
    "onReferenceFragmentUpdated",
)
_ABORTED: Final = "Error code 2152398850"  # Firefox's error of an aborted navigation (NS_BINDING_ABORTED)


class _Navigation:
    """A navigation in progress."""

    def __init__(self, tab: Tab, url: str) -> None:
        self.tab = tab
        self.url = url
        self.is_fragment = _is_fragment_navigation(tab, url)
        self.is_reported = False
        """Whether its last event was emitted before it completed."""
        self.transition: dict[str, Any] = {
            "transitionType": "reload" if url == tab.url else "link",
            "transitionQualifiers": [],
        }


class NavigationEvents:
    """The events of webNavigation by name."""

    def __init__(self, tabs: Tabs, clock: Clock, calls: Callable[[], int]) -> None:
        self._tabs = tabs
        self._clock = clock
        self._pending: dict[int, _Navigation] = {}
        self._opened: dict[int, int] = {}
        """Tabs opened by a page, until their first navigation, with the tab of that page."""
        self._subscribed = False
        self.events: dict[str, Event[dict[str, Any]]] = {
            name: Event(f"webNavigation.{name}", calls, self._update_subscription) for name in _NAMES
        }

    def _update_subscription(self) -> None:
        has_listeners = any(self.events.values())
        if has_listeners and not self._subscribed:
            self._tabs.on_opened_by_page.add_listener(self._on_opened)
            self._tabs.on_updated.add_listener(self._on_updated)
            self._tabs.on_removed.add_listener(self._on_removed)
        elif self._subscribed and not has_listeners:
            self._tabs.on_opened_by_page.remove_listener(self._on_opened)
            self._tabs.on_updated.remove_listener(self._on_updated)
            self._tabs.on_removed.remove_listener(self._on_removed)
            self._pending.clear()
            self._opened.clear()
        self._subscribed = has_listeners

    def _on_updated(self, update: TabUpdate) -> None:
        tab = update.tab
        if "status" not in update.changed:
            return
        if "url" in update.changed:
            self._on_committed(tab)
        elif tab.started:
            self._on_started(tab)
        else:
            self._on_completed(tab)

    def _on_opened(self, tab: Tab) -> None:
        if tab.opener_id is not None:
            self._opened[tab.id] = tab.opener_id

    def _on_removed(self, removal: TabRemoval) -> None:
        self._opened.pop(removal.tab.id, None)
        self._abort(removal.tab.id)

    def _on_started(self, tab: Tab) -> None:
        self._abort(tab.id)
        url = without_secrets(tab.pending_url or tab.url)
        if url == BLANK and tab.url == BLANK:
            return
        if (source := self._opened.pop(tab.id, None)) is not None:
            self._emit_target(tab, url, source)
        navigation = self._pending[tab.id] = _Navigation(tab, url)
        if not navigation.is_fragment:
            self._emit("onBeforeNavigate", tab, url)

    def _on_committed(self, tab: Tab) -> None:
        navigation = self._pending.get(tab.id)
        if navigation is None:
            return
        navigation.url = tab.url
        navigation.is_reported = navigation.is_fragment or bool(tab.error)
        if navigation.is_fragment:
            self._emit("onReferenceFragmentUpdated", tab, tab.url, **navigation.transition)
            return
        if tab.error:
            self._emit("onErrorOccurred", tab, tab.url, error=tab.error)
        self._emit("onCommitted", tab, tab.url, **navigation.transition)

    def _on_completed(self, tab: Tab) -> None:
        navigation = self._pending.get(tab.id)
        if navigation is None or navigation.is_reported or navigation.url != tab.url:
            self._abort(tab.id)
            return
        del self._pending[tab.id]
        self._emit("onDOMContentLoaded", tab, tab.url)
        self._emit("onCompleted", tab, tab.url)

    def _abort(self, tab_id: int) -> None:
        navigation = self._pending.pop(tab_id, None)
        if navigation is not None and not navigation.is_reported:
            self._emit("onErrorOccurred", navigation.tab, navigation.url, error=_ABORTED)

    def _emit_target(self, tab: Tab, url: str, source_tab_id: int) -> None:
        source = {"sourceTabId": source_tab_id, "sourceFrameId": MAIN_FRAME}
        details = {"url": url, "timeStamp": self._now(), **source, "tabId": tab.id, "windowId": tab.window_id}
        self.events["onCreatedNavigationTarget"].emit(details)

    def _emit(self, name: str, tab: Tab, url: str, **more: Any) -> None:
        frame = {"frameId": MAIN_FRAME, "parentFrameId": NO_PARENT, "tabId": tab.id, "windowId": tab.window_id}
        self.events[name].emit({"url": url, "timeStamp": self._now(), **frame, **more})

    def _now(self) -> int:
        return round(self._clock.time() * 1000)


def _is_fragment_navigation(tab: Tab, url: str) -> bool:
    """Whether only the fragment of the URL changes."""
    page, mark, _ = url.partition("#")
    return bool(mark) and url != tab.url and page == tab.url.partition("#")[0] and not tab.error
