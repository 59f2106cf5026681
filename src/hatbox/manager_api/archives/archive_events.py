"""Events about backups: the progress of the one that runs, and changes of the folder."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from hatbox.manager_api.archives.backup_folder import BackupFolder, FolderSignature
from hatbox.manager_api.coalesced_changes import CoalescedEvent

__all__ = ["ArchiveProgress", "FolderEvent", "ProgressEvent"]

_POLL_SECONDS: Final = 0.1
_MAX_SHARE: Final = 20  # a folder with very many files is read for a twentieth of the time


class ArchiveProgress(NamedTuple):
    """How far a backup, a preview or a restore is."""

    id: str
    """Chosen by the caller."""
    kind: Literal["backup", "preview", "restore"]
    done: int
    total: int


class ProgressEvent(CoalescedEvent[ArchiveProgress]):
    """Emitted while a backup or a restore runs. Only one does at a time, so the latest progress is enough."""

    def __init__(self) -> None:
        super().__init__("hatbox.archives.onProgress", lambda _, later: later)

    def reporter(self, operation: str, kind: Literal["backup", "preview", "restore"]) -> Callable[[int, int], None]:
        """A function that reports progress from any thread."""
        loop, lock = asyncio.get_running_loop(), threading.Lock()
        latest: list[ArchiveProgress] = []

        def deliver() -> None:
            with lock:
                progress = latest.pop()
            self.add(progress)

        def report(done: int, total: int) -> None:
            with lock:
                is_scheduled = bool(latest)
                latest[:] = [ArchiveProgress(operation, kind, done, total)]
            if not is_scheduled:  # a thread that reads rows must not fill the event loop
                loop.call_soon_threadsafe(deliver)

        return report


class FolderEvent(CoalescedEvent[None]):
    """Emitted when files in the folder were added, written or deleted, by any program. Polls while it has listeners."""

    def __init__(self, folder: BackupFolder) -> None:
        super().__init__("hatbox.archives.onChanged", lambda _, later: later, self._update_polling)
        self._folder = folder
        self._known: FolderSignature | None = None  # None until the folder was read
        self._reading = asyncio.Lock()
        self._poll: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Read the folder, and emit if it has changed. Without listeners, nothing happens.

        A list that is read after the first check is older than no change that is reported.
        """
        if not self:
            return
        async with self._reading:  # in a thread: the folder may be on a server that is slow
            signature = await asyncio.to_thread(self._folder.signature)
        if self._known is not None and signature != self._known:
            self.add(None)
        self._known = signature

    def _update_polling(self) -> None:
        if self and self._poll is None:
            self._poll = asyncio.create_task(self._watch())
        elif not self and self._poll is not None:
            self._poll.cancel()
            self._poll = self._known = None

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            await self.check()
            await asyncio.sleep(max(_POLL_SECONDS, _MAX_SHARE * (loop.time() - started)))
