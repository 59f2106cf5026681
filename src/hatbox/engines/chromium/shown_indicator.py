"""The identity indicator on the pages of one browser context: the identity, and the programs that are connected."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.endpoint.connected_clients import ConnectedClients
from hatbox.engines.chromium.identity_indicator import IdentityIndicator, with_programs
from hatbox.engines.chromium.isolated_world import IsolatedWorld

__all__ = ["ShownIndicator"]

_DELAY: Final = 0.05  # seconds in which changes are collected: clients may connect again and again


class ShownIndicator:
    """Without an `identity`, pages have no indicator. `worlds` are those of the open pages."""

    def __init__(self, identity: IdentityIndicator | None, worlds: Callable[[], Iterable[IsolatedWorld]]) -> None:
        self._identity = identity
        self._worlds = worlds
        self._redraw = Debouncer(self._draw, _DELAY)
        self.clients = ConnectedClients(self.update)
        """The clients of endpoints."""

    @property
    def current(self) -> IdentityIndicator | None:
        """What pages show now."""
        return with_programs(self._identity, self.clients.programs)

    def set_identity(self, identity: IdentityIndicator) -> None:
        """The name, color or icon of the identity has changed."""
        self._identity = identity
        self.update()

    def update(self) -> None:
        """Replace the indicator soon in pages that show another one."""
        if self._identity is not None:
            self._redraw.schedule()

    def stop(self) -> None:
        """Change no more pages."""
        self._redraw.cancel()

    async def _draw(self) -> None:
        for world in [*self._worlds()]:
            with contextlib.suppress(PlaywrightError):  # the page is being closed
                if world.indicator != self.current:
                    await world.set_indicator(self.current)
