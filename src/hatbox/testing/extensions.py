"""An extension as a test sees it. Adds to hatbox.extensions what only tests need."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.browser import Browser
from hatbox.cookie_store_ids import DEFAULT_STORE
from hatbox.engines.runner import EngineRunner
from hatbox.errors import InvalidTab
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import LogEntry
from hatbox.identities import IdentityLike
from hatbox.profile import Profile
from hatbox.tabs.model import Tab

__all__ = ["ExtensionUnderTest"]

_LOOK_AGAIN = 0.01  # seconds


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

    async def open(self, url: str, identity: IdentityLike = DEFAULT_STORE) -> Tab | None:
        """Open a tab as a user would, and wait until its page has loaded; None if the extension has closed it."""
        tab = await self._profile.tabs.open(identity, url)
        try:
            return await self._engine.loaded(tab.id)
        except InvalidTab:
            return None

    async def until(self, expression: str, within: float = 10.0) -> Any:
        """Wait until an expression in its background is true; returns its value."""
        async with asyncio.timeout(within):
            while not (value := await self.evaluate(expression)):  # noqa: ASYNC110 - it waits for a script, not for us
                await asyncio.sleep(_LOOK_AGAIN)
        return value
