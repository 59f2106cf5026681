"""Serves the calls and listeners of a script in another process, with the parts that extensions use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import HatboxError, ScriptError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.call_bridge import CallBridge
from hatbox.extensions.runtime.host import Listener, LogEntry
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.script_calls import ScriptCalls
from hatbox.extensions.runtime.script_connection import ScriptConnection

__all__ = ["ScriptBridge"]

logger = logging.getLogger("hatbox.run")

_LISTENER_SECONDS: Final = 30.0
_SIMPLE: Final = (str, int, float, bool, type(None))


class ScriptBridge(CallBridge):
    """Passes the messages of a script to the dispatcher until its process ends."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        connection: ScriptConnection,
        limits: RuntimeLimits,
        listener_seconds: float = _LISTENER_SECONDS,
    ) -> None:
        host = _ScriptHost(dispatcher, caller, listener_seconds)
        outgoing = OutgoingMessages(connection)
        super().__init__(host, connection, caller.id, limits, outgoing, log=_log, turns="script")
        self._script_calls = _PythonCalls(host, caller.id, limits, connection, outgoing, self.incoming)
        self.start(self._script_calls)

    def _handle(self, message: Any) -> None:
        match message:
            case [protocol.FLUSH, int(request_id)]:
                self._script_calls.flush(request_id)
            case _:
                super()._handle(message)


class _PythonCalls(ScriptCalls):
    """The pending calls of a script. Errors are sent with their class, because Python code catches them by class."""

    def flush(self, request_id: int) -> None:
        """Respond when the changes that were started so far are saved. Other calls go on."""
        saving = [each for each in self._pending.values() if not isinstance(each, asyncio.Task)]
        self.respond(request_id, _wait(saving))

    def cancel_all(self) -> None:
        """Cancel what is not a change of the profile: those that were started are saved, as for other scripts."""
        for result in list(self._pending.values()):
            if isinstance(result, asyncio.Task):
                result.cancel()

    def _error_result(self, request_id: int, error: Exception) -> list[Any]:
        if not isinstance(error, HatboxError):
            return super()._error_result(request_id, error)
        details = {name: value for name, value in vars(error).items() if isinstance(value, _SIMPLE)}
        return [protocol.RESULT, request_id, False, str(error), type(error).__name__, details]


async def _wait(futures: list[asyncio.Future[Any]]) -> None:
    if futures:
        await asyncio.wait(futures)


class _ScriptHost(ApiHost):
    """Calls listeners with a time limit: a script that does not respond must not delay requests for ever."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller, listener_seconds: float) -> None:
        super().__init__(dispatcher, caller, lambda _: None)
        self._listener_seconds = listener_seconds
        self._timed: dict[Listener, _TimedListener] = {}

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        timed = _TimedListener(listener, self._listener_seconds)
        super().add_listener(timed, extra)
        self._timed[listener] = timed

    def remove_listener(self, listener: Listener) -> None:
        timed = self._timed.pop(listener, None)
        if timed is not None:
            super().remove_listener(timed)


class _TimedListener:
    """See hatbox.extensions.runtime.host.Listener."""

    def __init__(self, listener: Listener, seconds: float) -> None:
        self._listener = listener
        self._seconds = seconds

    @property
    def path(self) -> str:
        return self._listener.path

    def notify(self, *arguments: Any) -> None:
        self._listener.notify(*arguments)

    def call(self, *arguments: Any, timeout: float | None = None) -> Awaitable[Any]:
        return self._timed(self._listener.call(*arguments, timeout=timeout or self._seconds))

    async def _timed(self, called: Awaitable[Any]) -> Any:
        try:
            return await called
        except TimeoutError:
            logger.warning("a listener of %s has not responded within %g seconds", self.path, self._seconds)
            raise ScriptError("The listener has not responded.") from None


def _log(entry: LogEntry) -> None:
    logger.warning("%s", entry)
