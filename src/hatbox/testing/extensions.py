"""An extension as a test sees it. Adds to hatbox.extensions what only tests need."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from hatbox.api.browser import Browser
from hatbox.engines.runner import EngineRunner
from hatbox.errors import InvalidTab
from hatbox.extensions.extension import Extension
from hatbox.extensions.extension_page import ExtensionPage
from hatbox.extensions.runtime import LogEntry
from hatbox.extensions.ui_triggers import ExtensionUi, TriggerResult
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import IdentityLike
from hatbox.profile import Profile
from hatbox.tabs.tab_model import Tab

__all__ = ["ExtensionUnderTest"]

T = TypeVar("T")

_POLL_INTERVAL: Final = 0.01  # seconds
_DEFAULT_TIMEOUT: Final = 10.0


class ExtensionUnderTest:
    """An extension that runs for one test."""

    def __init__(self, extension: Extension, profile: Profile, engine: EngineRunner, log: list[LogEntry]) -> None:
        self.extension = extension
        """The extension itself."""
        self.log = log
        """What its scripts have said, and the errors that they did not catch."""
        self._profile = profile
        self._engine = engine

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.extension.id

    @property
    def browser(self) -> Browser:
        """`browser` as its scripts see it, with its permissions."""
        return self.extension.browser

    @property
    def errors(self) -> list[str]:
        """The errors that its scripts did not catch."""
        return [str(entry) for entry in self.log if entry.kind != "console"]

    async def evaluate(self, source: str) -> Any:
        """Run an expression, or statements, in the scope of its background; what it gives, as JSON makes it."""
        return await self.extension.evaluate(source)

    def page(self, path: str = "", *, tab_id: int | None = None, kind: str = "TAB") -> ExtensionPage:
        """A page of the extension, such as its popup, with Python for its script: it sends and gets messages."""
        return self.extension.page(path, tab_id=tab_id, kind=kind)

    def content_script(self, tab_id: int, url: str) -> ExtensionPage:
        """A script of the extension in a web page, with Python for JavaScript."""
        return self.extension.content_script(tab_id, url)

    # ── What a user does ──

    async def open(self, url: str, identity: IdentityLike = DEFAULT_STORE) -> Tab | None:
        """Open a tab as a user would, and wait until its page has loaded; None if the extension has closed it."""
        tab = await self._profile.tabs.open(identity, url)
        try:
            return await self._engine.wait_until_loaded(tab.id)
        except InvalidTab:
            return None

    async def ui(self) -> ExtensionUi:
        """What it shows: menus, buttons, commands, notifications. Buttons are as they are in the active tab."""
        [shown] = await self._profile.extensions.ui(self.id)
        return shown

    def click_menu(
        self,
        item_id: str | int,
        *,
        tab_id: int | None = None,
        link_url: str | None = None,
        link_text: str | None = None,
        image_url: str | None = None,
        selection_text: str | None = None,
    ) -> Awaitable[TriggerResult]:
        """Choose an item of its menus, in the active tab or another one, on the page or on something in it.

        Like all that a user does, it resolves when the listeners were told, which is before they are done: see until().
        """
        return self._profile.extensions.trigger(
            self.id,
            f"menu:{item_id}",
            tab_id=tab_id,
            link_url=link_url,
            link_text=link_text,
            image_url=image_url,
            selection_text=selection_text,
        )

    def run_command(self, name: str, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Press the keys of one of its commands."""
        return self._profile.extensions.trigger(self.id, f"command:{name}", tab_id=tab_id)

    def click_action(self, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Click its button. If that opens a popup, the answer names it, and page() can play it."""
        return self._profile.extensions.trigger(self.id, "action", tab_id=tab_id)

    def click_page_action(self, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Click its button in the address bar."""
        return self._profile.extensions.trigger(self.id, "page-action", tab_id=tab_id)

    def click_notification(self, notification_id: str) -> Awaitable[TriggerResult]:
        """Click one of its notifications."""
        return self._profile.extensions.trigger(self.id, f"notification:{notification_id}")

    def close_notification(self, notification_id: str) -> Awaitable[TriggerResult]:
        """Close one of its notifications."""
        return self._profile.extensions.trigger(self.id, f"notification:{notification_id}", close=True)

    # ── Waiting for what follows ──

    async def wait_for(self, expression: str, within: float = _DEFAULT_TIMEOUT) -> Any:
        """Wait until an expression in its background is true; returns its value."""
        return await _wait(lambda: self.evaluate(expression), bool, expression, within)

    async def wait_for_tabs(
        self, condition: Callable[[list[Tab]], object], within: float = _DEFAULT_TIMEOUT
    ) -> list[Tab]:
        """Wait until the tabs of the profile are as a function says, and none is loading; returns them."""

        def holds(tabs: list[Tab]) -> bool:
            return bool(not any(tab.loading for tab in tabs) and condition(tabs))

        return await _wait(self._profile.tabs.query, holds, "the tabs are as wished", within)

    async def wait_for_ui(
        self, condition: Callable[[ExtensionUi], object], within: float = _DEFAULT_TIMEOUT
    ) -> ExtensionUi:
        """Wait until what it shows is as a function says; returns it."""
        return await _wait(self.ui, lambda shown: bool(condition(shown)), "what it shows is as wished", within)


async def _wait(look: Callable[[], Awaitable[T]], is_it: Callable[[T], bool], wish: str, within: float) -> T:
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not is_it(seen := await look()):
        if loop.time() >= end:
            raise TimeoutError(f"not within {within:g} s: {wish}. Last seen: {seen!r}")
        await asyncio.sleep(_POLL_INTERVAL)
    return seen
