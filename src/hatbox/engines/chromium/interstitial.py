"""Shows in the error page of a blocked navigation why it was blocked, and which identities the user can choose.

The page is Chromium's own error page: its origin is opaque, its URL is that of the blocked page, and a reload checks
the rules again. The choice comes from an isolated world, whose binding no page can call.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.ruled_navigation import BlockedPage
from hatbox.engines.chromium.sessions import Session

__all__ = ["CLICK_DELAY", "Interstitial"]

CLICK_DELAY: Final = 700
"""Milliseconds in which clicks are ignored."""

_WORLD: Final = "hatbox-choice"
_BINDING: Final = "hatboxChoice"
_SCRIPT: Final = files(__package__).joinpath("interstitial.js").read_text("utf-8")


class Interstitial:
    """The interstitial of one page. `on_choice` receives the blocked page and the chosen cookieStoreId."""

    def __init__(self, session: Session, on_choice: Callable[[BlockedPage, str], None]) -> None:
        self._session = session
        self._on_choice = on_choice
        self._shown: BlockedPage | None = None
        self._context_id: int | None = None
        session.on("Runtime.bindingCalled", log_exceptions(self._on_binding_called))

    async def show(self, frame_id: str, blocked: BlockedPage) -> None:
        """Show a blocked page in the error page of this frame."""
        self.remove()
        choices = [choice.name for choice in blocked.outcome.choices]
        title = "Which identity opens this page?" if choices else "This page was not opened"
        arguments = json.dumps([title, blocked.outcome.explanation, blocked.url, choices])
        script = f"{_SCRIPT.replace('DELAY', str(CLICK_DELAY))}(...{arguments})"
        with contextlib.suppress(PlaywrightError):  # closed, or another navigation has started
            await self._session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
            params = {"frameId": frame_id, "worldName": _WORLD}
            context_id = (await self._session.send("Page.createIsolatedWorld", params))["executionContextId"]
            self._shown, self._context_id = blocked, context_id
            await self._session.send("Runtime.evaluate", {"expression": script, "contextId": context_id})

    def remove(self) -> None:
        """Another document is shown: ignore clicks."""
        self._shown = self._context_id = None

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        blocked = self._shown
        if event["name"] != _BINDING or blocked is None or event["executionContextId"] != self._context_id:
            return
        self.remove()
        self._on_choice(blocked, blocked.outcome.choices[int(event["payload"])].cookie_store_id)
