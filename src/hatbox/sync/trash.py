"""The trash of a synchronous profile."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from hatbox.identities.trash import RemovedIdentity, RemovedLike, Trash
from hatbox.identity.model import ContextualIdentity
from hatbox.sync.loop_thread import LoopThread

__all__ = ["SyncTrash"]


class SyncTrash:
    """The identities that were removed, until they expire. Each call returns when its change is durable."""

    def __init__(self, trash: Trash, loop: LoopThread) -> None:
        self._trash = trash
        self._run = loop.run

    def list(self) -> builtins.list[RemovedIdentity]:
        """All removed identities, the last removed first."""
        return self._run(lambda: self._trash.list())

    def find(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[RemovedIdentity]:
        """These removed identities, each once. See Trash.find."""
        return self._run(lambda: self._trash.find(identities))

    def restore(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[ContextualIdentity]:
        """Restore removed identities. See Trash.restore."""
        return self._run(lambda: self._trash.restore(identities))

    def remove(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[RemovedIdentity]:
        """Delete these identities from the trash for ever."""
        return self._run(lambda: self._trash.remove(identities))

    def empty(self) -> builtins.list[RemovedIdentity]:
        """Delete all identities from the trash for ever."""
        return self._run(self._trash.empty)
