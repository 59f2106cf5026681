"""The downloads of extensions and pages in this process. The list is in memory, as its ids are in Firefox."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, Protocol

from hatbox.downloads.download_item import CHANGE_FIELDS, DownloadItem, DownloadRequest
from hatbox.downloads.download_path import name_from_url, open_part, publish, reserve_file
from hatbox.downloads.download_query import find_downloads
from hatbox.errors import ApiError, HatboxError, NetworkError
from hatbox.events import Event
from hatbox.tasks import Tasks

__all__ = ["DownloadSource", "DownloadStream", "Downloads"]

logger = logging.getLogger("hatbox.downloads")

_MAX_ITEMS: Final = 10_000
_MAX_ACTIVE: Final = 32
_HTTP_ERROR: Final = 400
_PARTIAL: Final = 206
_ERRORS: Final = {
    204: "SERVER_BAD_CONTENT",
    205: "SERVER_BAD_CONTENT",
    402: "SERVER_UNAUTHORIZED",
    403: "SERVER_FORBIDDEN",
    404: "SERVER_BAD_CONTENT",
    407: "SERVER_UNAUTHORIZED",
}


class DownloadStream(NamedTuple):
    """The response to a download."""

    status: int
    mime: str | None
    total: int | None
    """The number of bytes that follow, if it is known."""
    validator: str | None
    """What identifies the version of the file (ETag or Last-Modified), if the server can send the rest of it later."""
    chunks: AsyncIterator[bytes]
    offset: int | None = None
    """Where in the file a partial response starts, if the server says so."""


class DownloadSource(Protocol):
    """Makes the requests of downloads, with the cookies and settings of their identity."""

    def open(
        self, request: DownloadRequest, offset: int, validator: str | None
    ) -> AbstractAsyncContextManager[DownloadStream]:
        """Send the request: for the bytes from `offset` on, if the file is the same. Raises NetworkError."""


class Downloads:
    """The downloads of one process, into one folder."""

    def __init__(self, folder: Path, source: DownloadSource, time: Callable[[], float]) -> None:
        self.folder = folder
        """The downloads folder."""
        self.on_created: Event[DownloadItem] = Event("downloads.onCreated")
        self.on_changed: Event[Mapping[str, Any]] = Event("downloads.onChanged")
        """Emitted with a DownloadDelta."""
        self.on_erased: Event[int] = Event("downloads.onErased")
        self._source = source
        self._time = time
        self._items: dict[int, DownloadItem] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._shown: dict[int, dict[str, Any]] = {}
        self._observed: dict[int, Callable[[], Awaitable[None]]] = {}
        self._last_id = 0
        self._tasks = Tasks()

    async def start(
        self,
        request: DownloadRequest,
        name: PurePosixPath | None,
        *,
        overwrite: bool,
        extension_id: str | None = None,
        extension_name: str | None = None,
    ) -> int:
        """Start a download, and return its id. Raises ApiError."""
        self._check_active()
        wanted = name_from_url(request.url) if name is None else name
        try:
            reserved = reserve_file(self.folder, wanted, overwrite=overwrite)
        except OSError as error:
            logger.warning("download of %s: %s", request.url, error)
            raise ApiError("An unexpected error occurred") from error
        self._last_id += 1
        item = DownloadItem(self._last_id, request, reserved.path, self._time(), extension_id, extension_name)
        item.reserved = reserved
        self._items[item.id] = item
        self._shown[item.id] = item.view()
        self._limit()
        self.on_created.emit(item)
        self._run(item)
        return item.id

    def observe(
        self, url: str, path: Path, cookie_store_id: str, cancel: Callable[[], Awaitable[None]]
    ) -> DownloadItem:
        """List a download that a page has started. It can be canceled, but not paused. `finish` ends it."""
        self._last_id += 1
        item = DownloadItem(self._last_id, DownloadRequest(url, cookie_store_id), path, self._time())
        self._items[item.id] = item
        self._shown[item.id] = item.view()
        self._observed[item.id] = cancel
        self._limit()
        self.on_created.emit(item)
        return item

    def finish(self, item: DownloadItem, size: int | None) -> None:
        """A download of a page has ended: with a file of this size, or without one."""
        self._observed.pop(item.id, None)
        if size is not None:
            item.received = item.total = size
            item.is_complete = item.exists = True
        elif not item.is_canceled:
            item.error = "NETWORK_FAILED"
        if item.id in self._items:
            self._changed(item)

    def search(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The downloads that match a DownloadQuery. Raises ApiError."""
        return [dict(view) for view in find_downloads((self._view(item) for item in self._items.values()), query)]

    async def pause(self, number: int) -> None:
        """Stop a download; it can be resumed if the server allows it. Raises ApiError."""
        item = self._get(number)
        if item.state != "in_progress":
            raise ApiError(f"Download {number} cannot be paused since it is in state {item.state}")
        if number in self._observed:
            raise ApiError(f"Download {number} cannot be paused, because a page has started it")
        await self._stop(item)

    async def resume(self, number: int) -> None:
        """Continue a download. Raises ApiError."""
        item = self._get(number)
        if not item.can_resume:
            raise ApiError(f"Download {number} cannot be resumed")
        self._check_active()
        item.error, item.is_canceled = None, False
        self._changed(item)
        self._run(item)

    async def cancel(self, number: int) -> None:
        """Stop a download for good, and delete its partial data. Raises ApiError."""
        item = self._get(number)
        if item.is_complete:
            raise ApiError(f"Download {number} is already complete")
        await self._stop(item, discard=True)

    async def remove_file(self, number: int) -> None:
        """Delete the file of a complete download. Raises ApiError."""
        item = self._get(number)
        if not item.is_complete:
            raise ApiError(f"Cannot remove incomplete download id {number}")
        try:
            await asyncio.to_thread(item.path.unlink)
        except FileNotFoundError:
            raise ApiError(f"Could not remove download id {number} because the file doesn't exist") from None
        item.exists = False
        self._changed(item)

    async def erase(self, query: Mapping[str, Any]) -> list[int]:
        """Remove downloads from the list; their files stay. Returns their ids."""
        numbers = [view["id"] for view in self.search(query)]
        for number in numbers:
            item = self._items.get(number)
            if item is not None and item.state == "in_progress":
                await self._stop(item, discard=True)
            self._forget(number)
        return numbers

    def remove_finished(self, since: float | None) -> None:
        """Remove downloads that have ended and were started since then; their files stay. Paused ones stay listed."""
        for number, item in list(self._items.items()):
            if item.state != "in_progress" and not item.is_paused and (since is None or item.started_at >= since):
                self._forget(number)

    async def close(self) -> None:
        """Stop all downloads, and delete their partial data."""
        for number in list(self._running):
            await self._stop(self._items[number], discard=True)
        for item in self._items.values():
            _discard(item)
        await self._tasks.wait()

    def _check_active(self) -> None:
        if len(self._running) >= _MAX_ACTIVE:
            raise ApiError(f"At most {_MAX_ACTIVE} downloads may run at a time")

    def _get(self, number: int) -> DownloadItem:
        item = self._items.get(number)
        if item is None:
            raise ApiError(f"Invalid download id {number}")
        return item

    def _view(self, item: DownloadItem) -> dict[str, Any]:
        if item.is_complete:
            item.exists = item.path.exists()
        return item.view()

    def _run(self, item: DownloadItem) -> None:
        task = self._running[item.id] = self._tasks.spawn(self._download(item))
        task.add_done_callback(lambda _: self._ended(item, task))

    def _ended(self, item: DownloadItem, task: asyncio.Task[None]) -> None:
        if self._running.get(item.id) is task:  # a listener of onChanged may have resumed it
            del self._running[item.id]

    async def _download(self, item: DownloadItem) -> None:
        try:
            async with self._source.open(item.request, item.received, item.validator) as stream:
                error = _ERRORS.get(stream.status) or ("SERVER_FAILED" if stream.status >= _HTTP_ERROR else None)
                if error and not item.request.allow_http_errors:
                    item.error = error
                else:
                    await self._save(item, stream)
        except (HatboxError, ConnectionError, TimeoutError) as error:
            logger.info("download of %s failed: %s", item.request.url, error)
            item.error = "NETWORK_FAILED"
        except OSError as error:
            logger.warning("download to %s failed: %s", item.path, error)
            item.error = "FILE_FAILED"
        except Exception:  # it would leave the download in progress for ever
            logger.exception("download of %s failed", item.request.url)
            item.error = "NETWORK_FAILED"
        if not item.is_complete and not item.can_resume:
            _discard(item)
        self._changed(item)

    async def _save(self, item: DownloadItem, stream: DownloadStream) -> None:
        is_continued = item.received > 0 and stream.status == _PARTIAL
        if is_continued and stream.offset != item.received:
            raise NetworkError(f"{item.request.url}: the server sent another part of the file")
        if item.reserved is None:
            raise FileNotFoundError(f"{item.path}: the partial file was deleted")
        item.received = item.received if is_continued else 0
        item.mime, item.validator = stream.mime, stream.validator
        item.total = -1 if stream.total is None else item.received + stream.total
        # Cuts off what a thread wrote after the download was paused: it is not counted, and is sent again.
        file = open_part(item.reserved.part, item.received)
        try:
            async for chunk in stream.chunks:
                await asyncio.to_thread(file.write, chunk)
                item.received += len(chunk)
                item.has_partial_data = stream.validator is not None
        finally:
            file.close()
        item.path = publish(item.reserved)
        item.reserved = None
        item.is_complete = item.exists = True
        item.has_partial_data = False

    async def _stop(self, item: DownloadItem, *, discard: bool = False) -> None:
        if task := self._running.get(item.id):
            task.cancel()
            await asyncio.wait([task])
        cancel = self._observed.pop(item.id, None)
        if item.is_complete:
            return
        item.is_canceled = True
        if cancel is not None:
            await cancel()
        if discard or not item.has_partial_data:
            item.received = 0
            _discard(item)
        self._changed(item)

    def _changed(self, item: DownloadItem) -> None:
        """Emit onChanged with the changes since the last event."""
        before, now = self._shown[item.id], item.view()
        self._shown[item.id] = now
        delta: dict[str, Any] = {
            name: {"previous": before[name], "current": now[name]}
            for name in CHANGE_FIELDS
            if before[name] != now[name]
        }
        if delta:
            self.on_changed.emit({**delta, "id": item.id})

    def _forget(self, number: int) -> None:
        if (item := self._items.pop(number, None)) is not None:
            _discard(item)
            self._shown.pop(number, None)
            self.on_erased.emit(number)

    def _limit(self) -> None:
        """Remove the oldest downloads that have ended from a list that is too long."""
        for number, item in list(self._items.items())[: max(0, len(self._items) - _MAX_ITEMS)]:
            if item.state != "in_progress":
                self._forget(number)


def _discard(item: DownloadItem) -> None:
    """Delete the partial data of a download, if it has created some."""
    item.has_partial_data = False
    if item.reserved is not None:
        with contextlib.suppress(OSError):
            item.reserved.part.unlink()
        item.reserved = None
