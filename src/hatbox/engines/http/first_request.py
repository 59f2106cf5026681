"""Checks the requests of a load against the site rules: the first one, and the limit of the identity for redirects."""

from __future__ import annotations

from typing import Final

from hatbox.engines.navigation_rules import (
    CheckedNavigation,
    NavigationReopened,
    NavigationRules,
    is_https_upgrade,
    is_rule_message,
)
from hatbox.errors import HatboxError
from hatbox.tabs.tab_model import Tab
from hatbox.web_requests import RequestLifecycle

__all__ = ["FirstRequestCheck", "NavigationBlocked"]

_STOPPED: Final = "NS_BINDING_ABORTED"


class NavigationBlocked(HatboxError):
    """A rule does not let the identity load the URL, or the user has to choose an identity."""


class FirstRequestCheck:
    """The check of one load. Redirects stay, except from http to https at the start. Limits apply to all."""

    def __init__(self, rules: NavigationRules | None, tab: Tab) -> None:
        self._rules = rules
        self._tab = tab
        self._checked = ""  # the URL that was checked last
        self._is_redirected = False

    def skip(self) -> None:
        """A listener has redirected the request: rules do not reopen it."""
        self._is_redirected = True

    async def check(self, lifecycle: RequestLifecycle, url: str) -> None:
        """Check the next request. Raises NavigationReopened or NavigationBlocked."""
        if self._rules is None:
            return
        if self._checked and not is_https_upgrade(self._checked, url):
            self._is_redirected = True
        self._checked, tab = url, self._tab
        outcome = await self._rules.check(
            CheckedNavigation(
                tab_id=tab.id,
                cookie_store_id=tab.cookie_store_id,
                url=url,
                navigation_id=tab.navigation_id,
                stays=self._is_redirected or (tab.pending_url in ("", tab.url) and not is_rule_message(tab.error)),
            )
        )
        if outcome.action == "stay":
            return
        lifecycle.failed(_STOPPED)
        if outcome.action == "reopened":
            raise NavigationReopened("reopened in another identity")
        raise NavigationBlocked(outcome.message)
