"""The pending calls of a store: queued for the writer, and replied to on the event loop in commit order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec

from hatbox.store.base import ChangeRecord, TransactionFunction
from hatbox.store.recorded_calls import recorded
from hatbox.store.subscribers import Subscribers
from hatbox.tasks import Reply

__all__ = ["Call", "Calls", "LoggedChange", "settle"]

T = TypeVar("T")

LoggedChange: TypeAlias = tuple[str, msgspec.Raw]
"""A change: its topic, and the details as JSON."""


class Call:
    """A call in the writer, and its result."""

    __slots__ = ("changes", "error", "external_changes", "id", "reply", "sequence", "value", "work", "writes")

    def __init__(
        self, call_id: int, work: TransactionFunction[Any], reply: asyncio.Future[Any] | None, *, writes: bool
    ) -> None:
        self.id = call_id
        self.work = work
        self.reply = reply
        self.writes = writes
        self.value: Any = None
        self.error: Exception | None = None
        self.changes: Sequence[LoggedChange] = ()
        self.sequence = 0
        """The row of its changes in the log, or 0. All calls of one commit share it."""
        self.external_changes: Sequence[tuple[int, list[ChangeRecord]]] = ()
        """What other processes committed before it, for the subscribers."""


class Calls:
    """The calls of one store. All methods run on the event loop."""

    def __init__(self, subscribers: Subscribers) -> None:
        self.last_id = 0
        self.pending = 0
        self._subscribers = subscribers
        self._finished: deque[Call] = deque()
        self._is_replying = False  # whether a call has the turn of the loop to itself
        self._drained: asyncio.Future[None] | None = None

    def put(
        self,
        loop: asyncio.AbstractEventLoop,
        queue: Callable[[Call], None],
        work: TransactionFunction[T],
        *,
        writes: bool,
    ) -> asyncio.Future[T]:
        """Queue a transaction function for the thread that runs them."""
        reply: Reply[T] = Reply(loop=loop)
        self.last_id += 1
        self.pending += 1
        queue(Call(self.last_id, recorded(work) if writes else work, reply, writes=writes))
        return reply

    def on_finished(self, loop: asyncio.AbstractEventLoop, calls: list[Call]) -> None:
        """Reply to calls that the writer has finished."""
        self._finished.extend(calls)
        if not self._is_replying:
            self._reply(loop)

    async def drain(self) -> None:
        """Wait until every call has its reply. Only after the writer has ended."""
        if self.pending:
            self._drained = asyncio.get_running_loop().create_future()
            try:
                await asyncio.shield(self._drained)
            finally:
                self._drained = None

    def _reply(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver the changes of finished calls, and reply. With subscribers, each call has its own turn of the loop:
        a caller continues before the next call's changes are delivered."""
        self._is_replying = False
        while self._finished and not self._subscribers:
            self._settle(self._finished.popleft())
        if self._finished:
            call = self._finished.popleft()
            try:
                self._deliver(call)
            finally:  # a subscriber may raise SystemExit, and every call still gets its reply
                self._settle(call)
                self._is_replying = True
                loop.call_soon(self._reply, loop)

    def _deliver(self, call: Call) -> None:
        self._subscribers.deliver_external(call.external_changes)
        for topic, payload in call.changes:
            self._subscribers.deliver(ChangeRecord(topic, bytes(payload), call.id))

    def _settle(self, call: Call) -> None:
        self._subscribers.last_sequence = max(self._subscribers.last_sequence, call.sequence)
        if call.reply is None:  # it only carried the changes of other processes
            return
        self.pending -= 1
        settle(call.reply, call.value, call.error)
        if not self.pending and self._drained:
            self._drained.set_result(None)


def settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    """Set the result of a call. A cancelled future has none, although the call was done."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
