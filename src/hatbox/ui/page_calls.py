"""The calls of one page, of which each takes effect once, also if the server is killed and the page sends it again."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any, Final

from hatbox.errors import HatboxError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.host import Host
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.outgoing_messages import UNEXPECTED, OutgoingMessages
from hatbox.extensions.runtime.script_calls import ScriptCalls
from hatbox.manager_api.page_sentences import error_sentence
from hatbox.store.recorded_calls import RecordedCall
from hatbox.ui.lasting_calls import LastingCalls
from hatbox.ui.page_session import PageSession
from hatbox.ui.replaced_code import UPDATED, was_replaced

__all__ = ["DONE", "PageCalls"]

DONE: Final = "This was done just before Hatbox was started again. Its result is not known any more."
"""The error of a call that had changed the profile before the server was killed. api.js has the same text."""

_MAX_DELETED: Final = 64  # records in one write


class PageCalls(ScriptCalls):
    """The pending calls of a page. `done` are ids of calls that took effect before; `lasting` are those of all pages
    that are not cancelled when their page is closed."""

    def __init__(
        self,
        host: Host,
        caller_id: str,
        limits: RuntimeLimits,
        session: PageSession,
        outgoing: OutgoingMessages,
        incoming: IncomingMessages,
        done: Collection[int],
        lasting: LastingCalls,
    ) -> None:
        super().__init__(host, caller_id, limits, session, outgoing, incoming)
        self._lasting = lasting
        self._session = session
        self._done = done
        self._answered: deque[tuple[int, int]] = deque()
        """Calls with records: the number of the frame with the result, and the id."""

    def call(self, request_id: int, path: str, arguments: list[Any], *, user_input: bool = False) -> None:
        """Call an API function, unless it was called before."""
        if request_id in self._done:
            self._outgoing.queued.append([protocol.RESULT, request_id, False, DONE])
            return
        record = RecordedCall(self._session.id, request_id, self._take_acknowledged())
        with record.running():
            super().call(request_id, path, arguments, user_input=user_input)
        pending = self._pending.get(request_id)
        if pending is None:
            self._finish(record)
        else:
            self._lasting.add(path, pending)
            pending.add_done_callback(lambda _: self._finish(record))

    def cancel_all(self) -> None:
        """The page is closed or lost."""
        for call in [each for each in self._pending.values() if each not in self._lasting]:
            call.cancel()

    def _error_result(self, request_id: int, error: Exception) -> list[Any]:
        """The page is the user's own: it shows every error that says what to do, as commands do, and gets its class."""
        if not isinstance(error, HatboxError):
            result = super()._error_result(request_id, error)
            is_unexpected = result[-1] == UNEXPECTED
            return [*result[:-1], UPDATED] if is_unexpected and was_replaced() else result
        return [protocol.RESULT, request_id, False, error_sentence(error), type(error).__name__]

    def take_records(self) -> list[int]:
        """The ids of calls whose records exist and whose results the page has. It may send the others again."""
        answered, self._answered = self._answered, deque()
        return [request_id for frame, request_id in answered if frame <= self._session.acknowledged]

    def _finish(self, record: RecordedCall) -> None:
        record.is_finished = True
        if record.has_written:
            self._answered.append((self._session.sent + 1, record.number))  # the result is in the next frame at most
        elif record.obsolete:
            self._answered.extendleft((0, each) for each in record.obsolete)  # a later call deletes them

    def _take_acknowledged(self) -> list[int]:
        """The ids of some calls whose results the page has."""
        taken: list[int] = []
        while self._answered and self._answered[0][0] <= self._session.acknowledged and len(taken) < _MAX_DELETED:
            taken.append(self._answered.popleft()[1])
        return taken
