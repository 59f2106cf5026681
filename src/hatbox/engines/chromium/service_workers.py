"""Unregisters service workers that could load a page for which rules choose another identity.

A service worker answers a navigation before Chromium pauses its request. It can be registered in the wrong identity: by
a page that was loaded before the rule was added, or by another path of the site. Runs only while rules exist.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.navigation_rules import NavigationRules
from hatbox.tasks import Tasks

__all__ = ["ServiceWorkerRemoval"]


class ServiceWorkerRemoval:
    """The service workers of one browser session. `identity_of` returns the cookieStoreId of a browserContextId."""

    def __init__(
        self, frames: FrameTree, rules: NavigationRules, identity_of: Callable[[str], str | None], tasks: Tasks
    ) -> None:
        self._frames = frames
        self._rules = rules
        self._identity_of = identity_of
        self._tasks = tasks

    async def start(self) -> None:
        """Observe the registrations of all pages, existing and new. Called again when the rules have changed."""
        await self._frames.observe_service_workers(self._on_registrations)

    def _on_registrations(self, target_id: str, event: dict[str, Any]) -> None:
        scopes = [each["scopeURL"] for each in event["registrations"] if not each["isDeleted"]]
        cookie_store_id = self._identity_of(self._frames.context_of(target_id))
        if scopes and cookie_store_id is not None:
            self._tasks.spawn(self._unregister(target_id, cookie_store_id, scopes))

    async def _unregister(self, target_id: str, cookie_store_id: str, scopes: list[str]) -> None:
        for scope in scopes:
            if await self._rules.concern_site(scope, cookie_store_id):
                with contextlib.suppress(PlaywrightError):
                    await self._frames.send(target_id, "ServiceWorker.unregister", scopeURL=scope)
