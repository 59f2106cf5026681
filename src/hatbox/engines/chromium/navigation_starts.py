"""How navigations of main frames start: by reload, history, a form, or otherwise. From CDP Page events.

Chromium reports the start of a navigation before it pauses the first request, except in a window that has just opened.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, Literal, TypeAlias

__all__ = ["NavigationStart", "NavigationStarts"]

NavigationStart: TypeAlias = Literal["other", "form", "again"]
"""`again` loads a page that the tab has shown: reload, back and forward, restore."""

_MAX_ENTRIES: Final = 512
_AGAIN: Final = frozenset(
    {"reload", "reloadBypassingCache", "restore", "restoreWithPost", "historyDifferentDocument", "historySameDocument"}
)
_FORM_REASONS: Final = frozenset({"formSubmissionGet", "formSubmissionPost"})


class NavigationStarts:
    """The latest navigations of a browser, by loaderId, which is the networkId of their requests."""

    def __init__(self) -> None:
        self._starts: OrderedDict[str, NavigationStart] = OrderedDict()
        self._forms: OrderedDict[str, str] = OrderedDict()  # URLs of form submissions by frame, until they start

    def on_event(self, name: str, event: dict[str, Any]) -> None:
        """Handle a CDP event of any target."""
        if name == "Page.frameRequestedNavigation":
            self._forms.pop(event["frameId"], None)
            if event["reason"] in _FORM_REASONS:
                _put(self._forms, event["frameId"], event["url"])
        elif name == "Page.frameStartedNavigating":
            is_form = self._forms.pop(event["frameId"], None) == event["url"]
            start: NavigationStart = "form" if is_form else "other"
            _put(self._starts, event["loaderId"], "again" if event["navigationType"] in _AGAIN else start)

    def start_of(self, network_id: str | None) -> NavigationStart:
        """How the navigation started whose request has this networkId."""
        return self._starts.get(network_id or "", "other")


def _put(entries: OrderedDict[str, Any], key: str, value: Any) -> None:
    entries[key] = value
    if len(entries) > _MAX_ENTRIES:
        entries.popitem(last=False)
