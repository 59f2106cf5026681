"""Checks the paused requests of main frames against the site rules, and fails those that must not be sent."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol, TypeAlias

from hatbox.engines.chromium.fetch_commands import FetchCommand
from hatbox.engines.chromium.frame_path import Target
from hatbox.engines.chromium.in_flight_requests import InFlightRequest
from hatbox.engines.chromium.resource_types import MAIN_FRAME
from hatbox.engines.chromium.ruled_navigation import BlockedPage, RequestedNavigation
from hatbox.engines.navigation_rules import (
    CheckedNavigation,
    NavigationReopened,
    NavigationRules,
    is_https_upgrade,
)
from hatbox.web_requests import RequestFrame

__all__ = ["NavigationStarts", "RuleChecks", "RuledTabs"]

_STOPPED: Final = "NS_BINDING_ABORTED"
_SHOW_ERROR_PAGE: Final = FetchCommand("Fetch.failRequest", {"errorReason": "BlockedByClient"})

_NavigationStart: TypeAlias = Literal["other", "form", "again"]
"""`again` loads a page that the tab has shown: reload, back and forward, restore."""

_MAX_ENTRIES: Final = 512
_AGAIN_REASONS: Final = frozenset(
    {"reload", "reloadBypassingCache", "restore", "restoreWithPost", "historyDifferentDocument", "historySameDocument"}
)
_FORM_REASONS: Final = frozenset({"formSubmissionGet", "formSubmissionPost"})


class RuledTabs(Protocol):
    """The tabs of the browser, for rules."""

    async def requested_navigation(self, target: Target, tab_id: int, network_id: str, url: str) -> RequestedNavigation:
        """How a navigation of a page was requested. `network_id` is that of its first request."""

    def is_for_person(self, target_id: str) -> bool:
        """Whether a person uses a page without a tab, at the request of a program."""

    def identity_of(self, context_id: str) -> str | None:
        """The cookieStoreId of a browserContextId; None if it belongs to no identity."""

    def block_page(self, target_id: str, blocked: BlockedPage) -> None:
        """Show the outcome of a check in the error page that Chromium is about to show."""


class RuleChecks:
    """The checks of one browser."""

    def __init__(self, rules: NavigationRules, tabs: RuledTabs) -> None:
        self.rules = rules
        self.starts = NavigationStarts()
        self.tabs = tabs

    async def check(self, event: Mapping[str, Any], request: InFlightRequest) -> FetchCommand | None:
        """The command that ends a request; None if it may be sent. Raises NavigationReopened.

        Only the first request of a navigation with GET is reopened elsewhere. A redirect from http to https at the
        start counts as the first request. Limits apply to every request: redirects, POST and forms too.
        """
        if request.resource_type != MAIN_FRAME:
            return None
        url, before = request.url, request.checked_url
        is_first = "redirectedRequestId" not in event or bool(before and is_https_upgrade(before, url))
        is_link = event["request"]["method"] == "GET" and self.starts.start_of(event.get("networkId")) != "form"
        request.checked_url = url if is_first and is_link else ""
        navigation = await self._navigation(event, request)
        outcome = await self.rules.check(navigation)
        if outcome.action == "stay":
            return None
        request.lifecycle.failed(_STOPPED)
        if outcome.action == "reopened":
            raise NavigationReopened("reopened in another identity")
        self.tabs.block_page(request.frame.target.id, BlockedPage(url, outcome, navigation.is_refused))
        return _SHOW_ERROR_PAGE

    async def must_fail(self, event: Mapping[str, Any]) -> bool:
        """Whether a request of an unknown frame must not be sent: a rule decides its URL, or limits an identity."""
        return event["resourceType"] == "Document" and await self.rules.may_refuse(event["request"]["url"])

    async def _navigation(self, event: Mapping[str, Any], request: InFlightRequest) -> CheckedNavigation:
        network_id, place = event.get("networkId") or "", request.lifecycle.place
        start = self.starts.start_of(network_id)
        requested = await self._requested(request, place, network_id)
        return CheckedNavigation(
            tab_id=place.tab_id,
            cookie_store_id=place.cookie_store_id,
            url=request.url,
            navigation_id=requested.navigation_id,
            is_refused=requested.is_refused,
            stays=not request.checked_url or ((requested.stays or start == "again") and not requested.is_unchecked),
        )

    async def _requested(self, request: InFlightRequest, place: RequestFrame, network_id: str) -> RequestedNavigation:
        if place.tab_id < 0 and not self.tabs.is_for_person(request.frame.target.id):
            return RequestedNavigation()
        return await self.tabs.requested_navigation(request.frame.target, place.tab_id, network_id, request.url)


class NavigationStarts:
    """The latest navigations of a browser, by loaderId, which is the networkId of their requests.

    Chromium reports the start of a navigation before it pauses the first request, except in a window that has just
    opened.
    """

    def __init__(self) -> None:
        self._starts: OrderedDict[str, _NavigationStart] = OrderedDict()
        self._forms: OrderedDict[str, str] = OrderedDict()  # URLs of form submissions by frame, until they start

    def on_event(self, name: str, event: dict[str, Any]) -> None:
        """Handle a CDP event of any target."""
        if name == "Page.frameRequestedNavigation":
            self._forms.pop(event["frameId"], None)
            if event["reason"] in _FORM_REASONS:
                _put(self._forms, event["frameId"], event["url"])
        elif name == "Page.frameStartedNavigating":
            is_form = self._forms.pop(event["frameId"], None) == event["url"]
            start: _NavigationStart = "form" if is_form else "other"
            _put(self._starts, event["loaderId"], "again" if event["navigationType"] in _AGAIN_REASONS else start)

    def start_of(self, network_id: str | None) -> _NavigationStart:
        """How the navigation started whose request has this networkId."""
        return self._starts.get(network_id or "", "other")


def _put(entries: OrderedDict[str, Any], key: str, value: Any) -> None:
    entries[key] = value
    if len(entries) > _MAX_ENTRIES:
        entries.popitem(last=False)
