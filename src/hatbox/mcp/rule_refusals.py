"""Why a page of an agent was not loaded because of a site rule. Playwright reports only that a request was blocked."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request

from hatbox.engines.chromium.net_errors import BLOCKED_BY_CLIENT
from hatbox.engines.navigation_rules import CheckedNavigation, NavigationRules
from hatbox.mcp.tool_output import quoted

if TYPE_CHECKING:
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["RuleRefusals"]


class RuleRefusals:
    """The refusals of one page, which may be in the browser of another program."""

    def __init__(self, page: Page, session: AgentSession) -> None:
        self._session = session
        self._url = ""
        page.on("requestfailed", self._on_request_failed)

    async def explain(self) -> str:
        """Which rule has refused the last navigation that failed, and what to do; empty if no rule did."""
        if not self._url:
            return ""
        profile = self._session.profile
        identity = self._session.identity.cookie_store_id
        navigation = CheckedNavigation(tab_id=-1, cookie_store_id=identity, url=self._url, is_refused=True)
        outcome = await NavigationRules(profile.store, profile.rules).check(navigation)
        if outcome.action != "blocked":
            return ""
        return (
            f"a site rule of the user refused the page: {quoted(outcome.explanation)} Do not try it again by other "
            "means. If the task needs this page, ask the user to change the rule: hatbox rules list"
        )

    def _on_request_failed(self, request: Request) -> None:
        with contextlib.suppress(PlaywrightError):  # a frame that does not exist any more
            if request.is_navigation_request() and request.frame.parent_frame is None:
                self._url = request.url if request.failure == BLOCKED_BY_CLIENT else ""
