"""The history of a synchronous profile."""

from __future__ import annotations

from hatbox.history.history_service import History, VisitedPage
from hatbox.identity.model import IdentityLike
from hatbox.sync.loop_thread import LoopThread

__all__ = ["SyncHistory"]


class SyncHistory:
    """The visited pages of all identities. Each call returns when its change is durable."""

    def __init__(self, history: History, loop: LoopThread) -> None:
        self._history = history
        self._run = loop.run

    def search(self, text: str = "", identity: IdentityLike | None = None, *, limit: int = 100) -> list[VisitedPage]:
        """The pages with all these words in URL or title. See History.search."""
        return self._run(lambda: self._history.search(text, identity, limit=limit))

    def clear(self, identity: IdentityLike | None = None) -> None:
        """Delete the history of all identities, or of one."""
        self._run(lambda: self._history.clear(identity))
