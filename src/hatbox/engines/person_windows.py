"""Asks a running engine, in another process, for a window in which a person does what a program requests.

The program appends PERSON_REQUESTED to the change log. The engine opens the window, and answers twice: as for an
endpoint when the window is open, and with PERSON_ANSWERED when it is closed again. ENDPOINT_RELEASED ends a request,
and so does the end of the program's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from typing import Final, Protocol

import msgspec

from hatbox.engines.endpoint_requests import ANSWER_TIMEOUT, release_request, send_request
from hatbox.engines.running_engines import ENGINES_CHANGED, RunningEngine, busy, has_lease
from hatbox.errors import ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.processes import ProcessId, current_process
from hatbox.tasks import Tasks

__all__ = [
    "PERSON_ANSWERED",
    "PERSON_ENDED",
    "PERSON_REQUESTED",
    "OpenPersonWindow",
    "PersonAnswer",
    "PersonWindowRequest",
    "RequestedPersonWindow",
]

PERSON_REQUESTED: Final = "person.requested"
"""The topic of a request. Its payload is a PersonWindowRequest."""
PERSON_ENDED: Final = "person.ended"
"""The topic of the end of a request whose empty window stays open until the person closes it. The payload is its id."""
PERSON_ANSWERED: Final = "person.answered"
"""The topic of the end of a request. Its payload is a PersonAnswer."""

_CLOSE_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 1.0  # between two checks whether the engine has ended


class PersonWindowRequest(msgspec.Struct, frozen=True):
    """The request for a window. `id` is random, and repeated in the answers."""

    id: str
    cookie_store_id: str
    process: ProcessId
    """The program. The window is closed when it ends."""
    since: float
    """When the engine was started: which of the engines of its process is meant."""
    url: str
    message: str


class PersonAnswer(msgspec.Struct, frozen=True):
    """The window is closed, and its cookies are in the profile: see OpenPersonWindow.answer."""

    id: str
    answer: str


class OpenPersonWindow(Protocol):
    """An open window for a person, in this process or another one."""

    answer: asyncio.Future[str]
    """`done` or `refused`, the button that the person has pressed, or `closed`."""

    async def end(self) -> None:
        """Empty the window, and wait until the person closes it.

        A window that closes by itself gives the focus, and the keys of a person who types, to another one.
        """

    async def close(self) -> None:
        """Close the window, and wait until the profile has its cookies and site data."""


class RequestedPersonWindow:
    """A window that an engine in another process has opened for this program. Implements OpenPersonWindow."""

    def __init__(self, store: Store, engine: RunningEngine, request: PersonWindowRequest) -> None:
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._store = store
        self._engine = engine
        self._request = request
        self._changed = asyncio.Event()
        self._tasks = Tasks()

    @classmethod
    async def open(
        cls, store: Store, engine: RunningEngine, cookie_store_id: str, url: str, message: str
    ) -> RequestedPersonWindow:
        """Ask an engine for a window. Raises EngineError, and EngineBusy if it does not answer or is too old."""
        if not engine.ends_person_windows:  # the page would stay open after the request, while the person types
            reason = "it runs an older version of Hatbox, whose windows for requests of programs cannot be ended"
            raise busy(engine, reason, identity=cookie_store_id)
        request = PersonWindowRequest(
            uuid.uuid4().hex, cookie_store_id, current_process(), engine.since or 0, url, message
        )
        window = cls(store, engine, request)
        store.subscribe(window._on_change)
        try:
            await send_request(store, engine, PERSON_REQUESTED, request, ANSWER_TIMEOUT)
        except BaseException:
            store.unsubscribe(window._on_change)
            with contextlib.suppress(asyncio.CancelledError):
                await release_request(store, request.id)
            raise
        window._tasks.spawn(window._watch())
        return window

    async def end(self) -> None:
        """See OpenPersonWindow."""
        payload = msgspec.json.encode(self._request.id)
        await self._store.write(lambda each: each.changes.append(PERSON_ENDED, payload))
        await asyncio.wait({self.answer})

    async def close(self) -> None:
        """See OpenPersonWindow. An engine that does not answer has ended, or closes the window later."""
        if not self.answer.done():
            await release_request(self._store, self._request.id)
            await asyncio.wait({self.answer}, timeout=_CLOSE_SECONDS)
        self._finish("closed")

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == PERSON_ANSWERED:
            answer = msgspec.json.decode(change.payload, type=PersonAnswer)
            if answer.id == self._request.id:
                self._finish(answer.answer)
        elif change.topic in (ENGINES_CHANGED, RESYNC):
            self._changed.set()

    async def _watch(self) -> None:
        """End with the engine."""
        while not self.answer.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._changed.wait()
            self._changed.clear()
            with contextlib.suppress(ProfileError):  # it may be reached again
                if not await has_lease(self._store, self._engine):
                    self._finish("closed")

    def _finish(self, answer: str) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)
        self._store.unsubscribe(self._on_change)
        self._tasks.cancel()
