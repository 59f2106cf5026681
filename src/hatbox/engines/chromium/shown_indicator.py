"""The identity indicator on the pages of one browser context: the identity, and the programs that are connected."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.endpoint.authorization import Authorization
from hatbox.engines.chromium.identity_indicator import IdentityIndicator, with_programs
from hatbox.engines.chromium.isolated_world import IsolatedWorld

__all__ = ["ShownIndicator"]

_DELAY: Final = 0.05  # seconds in which changes are collected: clients may connect again and again
_UNNAMED: Final = "another program"


class ShownIndicator:
    """Without an `identity`, pages have no indicator. `worlds` are those of the open pages."""

    def __init__(self, identity: IdentityIndicator | None, worlds: Callable[[], Iterable[IsolatedWorld]]) -> None:
        self._identity = identity
        self._worlds = worlds
        self._redraw = Debouncer(self._draw, _DELAY)
        self.clients = _ConnectedClients(self.update)
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


class _ConnectedClients:
    """Its length is the number of clients. `on_changed` is called when other programs are connected than before."""

    def __init__(self, on_changed: Callable[[], None]) -> None:
        self._on_changed = on_changed
        self._clients: list[Authorization] = []

    def __len__(self) -> int:
        return len(self._clients)

    @property
    def programs(self) -> list[str]:
        """The names of the programs, each once, the first connected first."""
        return list(dict.fromkeys(each.program or _UNNAMED for each in self._clients))

    def add(self, client: Authorization) -> None:
        """A client has connected."""
        self._change(self._clients.append, client)

    def remove(self, client: Authorization) -> None:
        """A client has left."""
        self._change(self._clients.remove, client)

    def _change(self, change: Callable[[Authorization], None], client: Authorization) -> None:
        before = self.programs
        change(client)
        if before != self.programs:
            self._on_changed()
