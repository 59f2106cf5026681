"""The start page: in a blank tab of the user, the actions of the running extensions as buttons.

start_page.js draws it in an isolated world. A blank tab has no scripts of its own, so nothing else can click there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.script_pages import ScriptPages
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.extension_buttons import ExtensionButton, ExtensionButtons
from hatbox.errors import HatboxError
from hatbox.tabs.tab_model import Tab
from hatbox.tasks import Tasks

__all__ = ["StartPages"]

_WORLD: Final = "hatbox-start"
_BINDING: Final = "hatboxStart"
_SCRIPT: Final = files(__package__).joinpath("start_page.js").read_text("utf-8")


class StartPages:
    """Shows the start page in blank tabs of the user. Without `buttons`, in none."""

    def __init__(self, buttons: ExtensionButtons | None, scripts: ScriptPages, tasks: Tasks) -> None:
        self._buttons = buttons
        self._scripts = scripts
        self._tasks = tasks

    def show(self, page: LivePage, tab: Tab) -> None:
        """Show the start page in the blank page of a tab, unless a script controls it."""
        if self._buttons is not None and not self._scripts.includes(tab.id, tab.opener_id, tab.cookie_store_id):
            self._tasks.spawn(_StartPage(page.session, self._buttons, self._tasks, tab.id).show(page.target_id))


class _StartPage:
    """The start page of one page of the browser."""

    def __init__(self, session: Session, buttons: ExtensionButtons, tasks: Tasks, tab_id: int) -> None:
        self._session = session
        self._buttons = buttons
        self._tasks = tasks
        self._tab_id = tab_id
        self._context_id: int | None = None
        self._shown: Sequence[ExtensionButton] = ()
        session.on("Runtime.bindingCalled", log_exceptions(self._on_binding_called))

    async def show(self, frame_id: str) -> None:
        """Draw the buttons in the blank document of this frame."""
        with contextlib.suppress(PlaywrightError):  # closed, or a navigation has started
            await self._session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
            params = {"frameId": frame_id, "worldName": _WORLD}
            self._context_id = (await self._session.send("Page.createIsolatedWorld", params))["executionContextId"]
            await self._draw()

    async def _draw(self) -> None:
        if self._context_id is None:
            return
        with contextlib.suppress(HatboxError):  # the tab was closed
            self._shown = await self._buttons.buttons(self._tab_id)
        drawn = [
            {
                "title": each.title,
                "badge": each.badge,
                "badgeColor": each.badge_color,
                "icon": each.icon,
                "isEnabled": each.is_enabled,
            }
            for each in self._shown
        ]
        with contextlib.suppress(PlaywrightError):
            params = {"expression": f"{_SCRIPT}({json.dumps(drawn)})", "contextId": self._context_id}
            await self._session.send("Runtime.evaluate", params)

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        if event["name"] != _BINDING or event["executionContextId"] != self._context_id:
            return
        if event["payload"] != "refresh":
            clicked = self._shown[int(event["payload"])]
            self._tasks.spawn(self._buttons.click(clicked.extension, self._tab_id))
        self._tasks.spawn(self._draw())
