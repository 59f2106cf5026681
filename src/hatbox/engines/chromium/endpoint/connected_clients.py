"""The clients that are connected to the browser context of one identity. Notifies of each change of their programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hatbox.engines.chromium.endpoint.authorization import Authorization

__all__ = ["ConnectedClients"]

_UNNAMED: Final = "another program"


class ConnectedClients:
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
