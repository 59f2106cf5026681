"""The steps of the loads of tabs, read off what is told of the tabs. Follows them while somebody listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hatbox.api.namespaces.web_navigation.navigation_frames import MAIN_FRAME, NO_PARENT
from hatbox.clock import Clock
from hatbox.events import Event
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK, Tab, TabRemoval, Update

__all__ = ["NavigationEvents"]

_NAMES: Final = (
    "onBeforeNavigate",
    "onCommitted",
    "onDOMContentLoaded",
    "onCompleted",
    "onErrorOccurred",
    "onReferenceFragmentUpdated",
)
_ABORTED: Final = "Error code 2152398850"  # what Firefox calls a load that was given up


class _Load:
    """A load under way: where it leads, whether only to another place in the page, and whether all is told of it."""

    def __init__(self, tab: Tab, url: str) -> None:
        self.tab = tab
        self.url = url
        self.fragment = _is_same_page(tab, url)
        self.told = False
        self.transition: dict[str, Any] = {
            "transitionType": "reload" if url == tab.url else "link",
            "transitionQualifiers": [],
        }


class NavigationEvents:
    """What happens to the loads of tabs: `events`, by the names that scripts give them."""

    def __init__(self, tabs: Tabs, clock: Clock, calls: Callable[[], int]) -> None:
        self._tabs = tabs
        self._clock = clock
        self._under_way: dict[int, _Load] = {}
        self._following = False
        self.events: dict[str, Event[dict[str, Any]]] = {
            name: Event(f"webNavigation.{name}", calls, self._follow_if_wanted) for name in _NAMES
        }

    def _follow_if_wanted(self) -> None:
        wanted = any(self.events.values())
        if wanted and not self._following:
            self._tabs.on_updated.add_listener(self._updated)
            self._tabs.on_removed.add_listener(self._removed)
        elif self._following and not wanted:
            self._tabs.on_updated.remove_listener(self._updated)
            self._tabs.on_removed.remove_listener(self._removed)
            self._under_way.clear()
        self._following = wanted

    def _updated(self, update: Update) -> None:
        tab = update.tab
        if "status" not in update.changed:
            return
        if "url" in update.changed:
            self._on_committed(tab)
        elif tab.started:
            self._on_started(tab)
        else:
            self._on_completed(tab)

    def _removed(self, removal: TabRemoval) -> None:
        self._abort(removal.tab.id)

    def _on_started(self, tab: Tab) -> None:
        self._abort(tab.id)
        url = tab.pending_url or tab.url
        if url == BLANK and tab.url == BLANK:
            return
        load = self._under_way[tab.id] = _Load(tab, url)
        if not load.fragment:
            self._emit("onBeforeNavigate", tab, url)

    def _on_committed(self, tab: Tab) -> None:
        load = self._under_way.get(tab.id)
        if load is None:
            return
        load.url = tab.url
        load.told = load.fragment or bool(tab.error)
        if load.fragment:
            self._emit("onReferenceFragmentUpdated", tab, tab.url, **load.transition)
            return
        if tab.error:
            self._emit("onErrorOccurred", tab, tab.url, error=tab.error)
        self._emit("onCommitted", tab, tab.url, **load.transition)

    def _on_completed(self, tab: Tab) -> None:
        load = self._under_way.get(tab.id)
        if load is None or load.told or load.url != tab.url:
            self._abort(tab.id)
            return
        del self._under_way[tab.id]
        self._emit("onDOMContentLoaded", tab, tab.url)
        self._emit("onCompleted", tab, tab.url)

    def _abort(self, tab_id: int) -> None:
        load = self._under_way.pop(tab_id, None)
        if load is not None and not load.told:
            self._emit("onErrorOccurred", load.tab, load.url, error=_ABORTED)

    def _emit(self, name: str, tab: Tab, url: str, **more: Any) -> None:
        where = {"frameId": MAIN_FRAME, "parentFrameId": NO_PARENT, "tabId": tab.id, "windowId": tab.window_id}
        self.events[name].emit({"url": url, "timeStamp": round(self._clock.time() * 1000), **where, **more})


def _is_same_page(tab: Tab, url: str) -> bool:
    """Whether a load only leads to another place in the page that is there."""
    page, mark, _ = url.partition("#")
    return bool(mark) and url != tab.url and page == tab.url.partition("#")[0] and not tab.error
