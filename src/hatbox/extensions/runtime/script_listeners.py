"""The event listeners of one extension process, as the host calls them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hatbox.errors import ExtensionTerminated, ScriptError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.host_requests import HostRequests
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.script_calls import error_message
from hatbox.extensions.runtime.wire_frames import ProtocolError

__all__ = ["ScriptListeners"]

logger = logging.getLogger("hatbox.extensions")


class ScriptListeners:
    """The listeners that scripts have added. `on_dispatch` is called before each event is sent."""

    def __init__(
        self,
        host: Host,
        extension_id: str,
        max_listeners: int,
        requests: HostRequests,
        outgoing: OutgoingMessages,
        *,
        log: Callable[[LogEntry], None],
        on_dispatch: Callable[[], None],
    ) -> None:
        self._host = host
        self._extension_id = extension_id
        self._max_listeners = max_listeners
        self._requests = requests
        self._outgoing = outgoing
        self._log = log
        self._on_dispatch = on_dispatch
        self._listeners: dict[int, _ScriptListener] = {}
        self.dispatched_events = 0
        """The number of listener calls so far."""

    def add(self, path: str, number: int, extra: list[Any]) -> None:
        """A script has called addListener; `extra` are the further arguments."""
        if number in self._listeners or len(self._listeners) >= self._max_listeners:
            raise ProtocolError("too many listeners, or a listener id in use")
        listener = _ScriptListener(self, path, number)
        try:
            self._host.add_listener(listener, extra)
        except Exception as error:  # noqa: BLE001 - addListener has returned, so it can only be logged
            message = error_message(error, self._extension_id)
            self._log(LogEntry("error", "error", f"{path}.addListener: {message}"))
        else:
            self._listeners[number] = listener

    def remove(self, number: int) -> None:
        """A script has called removeListener, or has ended."""
        listener = self._listeners.pop(number, None)
        if listener is not None:
            try:
                self._host.remove_listener(listener)
            except Exception:
                logger.exception("removing a listener of %s failed", self._extension_id)

    def remove_all(self) -> None:
        """The process has ended."""
        for number in list(self._listeners):
            self.remove(number)

    def count(self, path: str) -> int:
        """The number of listeners of an event."""
        return sum(each.path == path for each in self._listeners.values())

    async def dispatch(
        self, path: str, arguments: Sequence[Any], *, wait: bool = True, timeout: float | None = None
    ) -> list[Any] | None:
        """Call all listeners of an event. Returns None if the event has no listener.

        With `wait`, returns the results of the listeners that did not throw or time out.
        """
        listeners = [each for each in self._listeners.values() if each.path == path]
        if not listeners:
            return None
        if not wait:
            for listener in listeners:
                listener.notify(*arguments)
            return []
        results = await asyncio.gather(
            *(listener.call(*arguments, timeout=timeout) for listener in listeners), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException) and not isinstance(
                result, (ScriptError, TimeoutError, ExtensionTerminated)
            ):
                raise result
        return [result for result in results if not isinstance(result, BaseException)]

    def _note_dispatch(self) -> None:
        self.dispatched_events += 1
        self._on_dispatch()


class _ScriptListener:
    """See hatbox.extensions.runtime.host.Listener."""

    def __init__(self, listeners: ScriptListeners, path: str, number: int) -> None:
        self.path = path
        self._listeners = listeners
        self._number = number

    def notify(self, *arguments: Any) -> None:
        self._listeners._note_dispatch()
        self._listeners._outgoing.send_soon([protocol.EVENT, 0, self._number, arguments])

    def call(self, *arguments: Any, timeout: float | None = None) -> Awaitable[Any]:
        self._listeners._note_dispatch()
        return self._listeners._requests.send(protocol.EVENT, self._number, arguments, timeout=timeout)
