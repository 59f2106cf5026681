"""Opens windows for a person at the request of other programs, and answers when they are closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from hatbox.engines.endpoint_requests import ENDPOINT_RELEASED, EndpointAnswer, answer_request, decode_release
from hatbox.engines.person_windows import (
    PERSON_ANSWERED,
    PERSON_ENDED,
    PERSON_REQUESTED,
    OpenPersonWindow,
    PersonAnswer,
    PersonWindowRequest,
)
from hatbox.errors import HatboxError, ProfileError
from hatbox.store.base import ChangeRecord, Store
from hatbox.tasks import Tasks

__all__ = ["MAX_WINDOWS", "PersonAnswers"]

logger = logging.getLogger("hatbox.engines.chromium")

MAX_WINDOWS: Final = 8
"""The windows that programs have open at a time."""
_POLL_SECONDS: Final = 1.0  # between two checks whether a program has ended


class PersonAnswers:
    """The requests that one engine has received, from `start` to `stop`."""

    def __init__(
        self,
        store: Store,
        since: Callable[[], float | None],
        open_window: Callable[[str, str, str], Awaitable[OpenPersonWindow]],
    ) -> None:
        self._store = store
        self._since = since
        self._open_window = open_window
        self._released: dict[str, asyncio.Event] = {}
        self._ended: dict[str, asyncio.Event] = {}
        self._tasks = Tasks()

    def start(self) -> None:
        """Receive requests."""
        self._store.subscribe(self._on_change)

    async def stop(self) -> None:
        """Close the windows, and answer no more. Stopping twice has no effect."""
        self._store.unsubscribe(self._on_change)
        self._tasks.cancel()
        await self._tasks.wait()

    def _on_change(self, change: ChangeRecord) -> None:
        try:
            if change.topic == PERSON_REQUESTED:
                request = msgspec.json.decode(change.payload, type=PersonWindowRequest)
                if request.process.is_local and request.since == self._since() and request.id not in self._released:
                    self._tasks.spawn(self._serve(request))
            elif change.topic == ENDPOINT_RELEASED and (released := self._released.get(decode_release(change.payload))):
                released.set()
            elif change.topic == PERSON_ENDED and (ended := self._ended.get(decode_release(change.payload))):
                ended.set()
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # of another version
            logger.warning("a request of a program for a person was ignored: %s", error)

    async def _serve(self, request: PersonWindowRequest) -> None:
        if len(self._released) >= MAX_WINDOWS:
            await self._send_opened(request, f"{MAX_WINDOWS} windows for a person are open.")
            return
        self._released[request.id] = asyncio.Event()
        self._ended[request.id] = asyncio.Event()
        try:
            window = await self._open(request)
            if window is not None:
                await self._wait(request, window)
        except ProfileError as error:
            logger.error("a request of a program for a person was not answered: %s", error)
        finally:
            del self._released[request.id], self._ended[request.id]

    async def _open(self, request: PersonWindowRequest) -> OpenPersonWindow | None:
        try:
            window = await self._open_window(request.cookie_store_id, request.url, request.message)
        except HatboxError as error:
            await self._send_opened(request, str(error))
            return None
        try:
            await self._send_opened(request)
        except BaseException:
            await window.close()
            raise
        return window

    async def _wait(self, request: PersonWindowRequest, window: OpenPersonWindow) -> None:
        """Wait for the answer of the person, or the end of the request."""
        answer, ended = "closed", self._ended[request.id]
        try:
            await self._until_first(request, window.answer, ended.wait())
            if window.answer.done():
                answer = window.answer.result()
            elif ended.is_set():
                await self._until_first(request, window.end())
        finally:
            await window.close()
            payload = msgspec.json.encode(PersonAnswer(request.id, answer))
            with contextlib.suppress(ProfileError):
                await self._store.write(lambda each: each.changes.append(PERSON_ANSWERED, payload))

    async def _until_first(self, request: PersonWindowRequest, *work: Awaitable[Any]) -> None:
        """Wait until one of these is done, or the program has closed the window or has ended."""
        released = asyncio.ensure_future(self._released[request.id].wait())
        started = [asyncio.ensure_future(each) for each in work]
        waiting = {released, *started}
        try:
            while request.process.is_running and not any(each.done() for each in waiting):
                await asyncio.wait(waiting, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for own in waiting - set(work):
                own.cancel()
            await asyncio.gather(*(waiting - set(work)), return_exceptions=True)

    async def _send_opened(self, request: PersonWindowRequest, error: str = "") -> None:
        answer = EndpointAnswer(request.id, error=error)
        await self._store.write(lambda transaction: answer_request(transaction, answer))
