"""Events about backups: the progress of the one that runs, and changes of the folder."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple, TypeAlias

from hatbox.errors import HatboxError
from hatbox.manager_api.archives.backup_folder import BackupFolder, FolderSignature
from hatbox.manager_api.coalesced_changes import CoalescedEvent
from hatbox.manager_api.page_sentences import error_sentence

__all__ = ["ArchiveProgress", "FolderEvent", "ProgressEvent"]

_Kind: TypeAlias = Literal["backup", "preview", "restore"]

_STOPPED: Final = "It was stopped before its end."
_POLL_SECONDS: Final = 0.1
_MAX_SHARE: Final = 20  # a folder with very many files is read for a twentieth of the time


class ArchiveProgress(NamedTuple):
    """How far a backup, a preview or a restore is."""

    id: str
    """Chosen by the caller."""
    kind: _Kind
    done: int
    total: int
    state: Literal["running", "finished", "failed"] = "running"
    error: str | None = None
    """Why it has failed, as a sentence. None if that is not known."""


class ProgressEvent(CoalescedEvent[ArchiveProgress]):
    """Emitted while a backup or a restore runs, and at its end. Only one runs at a time, so the latest is enough."""

    def __init__(self) -> None:
        super().__init__("hatbox.archives.onProgress", lambda _, later: later)

    @contextmanager
    def operation(self, operation: str, kind: _Kind) -> Iterator[Callable[[int, int], None]]:
        """Run an operation in the block, which gets a function that reports progress from any thread.

        The end of the block is reported too: other pages than that of the caller show the progress.
        """
        reporter = _Reporter(self, ArchiveProgress(operation, kind, 0, 0))
        try:
            yield reporter.report
        except BaseException as error:
            reporter.end("failed", _sentence(error))
            raise
        reporter.end("finished")


class _Reporter:
    """Reports one operation on the event loop."""

    def __init__(self, event: ProgressEvent, first: ArchiveProgress) -> None:
        self._event = event
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._latest = first
        self._is_scheduled = False

    def report(self, done: int, total: int) -> None:
        """Report progress, from any thread."""
        with self._lock:
            is_scheduled, self._is_scheduled = self._is_scheduled, True
            self._latest = self._latest._replace(done=done, total=total)
        if not is_scheduled:  # a thread that reads rows must not fill the event loop
            self._loop.call_soon_threadsafe(self._deliver)

    def end(self, state: Literal["finished", "failed"], error: str | None = None) -> None:
        """Report the end, on the event loop. A thread that is being stopped reports nothing after it."""
        with self._lock:
            self._is_scheduled = True
            self._latest = self._latest._replace(state=state, error=error)
        self._event.add(self._latest)

    def _deliver(self) -> None:
        with self._lock:
            if self._latest.state != "running":
                return
            self._is_scheduled = False
        self._event.add(self._latest)


def _sentence(error: BaseException) -> str | None:
    if isinstance(error, HatboxError):
        return error_sentence(error)
    return _STOPPED if isinstance(error, asyncio.CancelledError) else None


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
