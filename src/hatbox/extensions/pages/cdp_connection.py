"""The bridge to the scripts in one execution context of Chromium: a document's main world, or an isolated world.

Texts of the scripts arrive as calls of a CDP binding; the caller routes Runtime.bindingCalled events here by their
executionContextId, which a script cannot forge. Texts to the scripts are calls of the receive function of
document_main.js, by an object reference. Knows no message by name, and nothing of Playwright but the `send` of a CDP
session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.script_connection import Receiver
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame, content_of, decode_messages

__all__ = ["TEXT_COST", "WINDOW", "CdpConnection", "CdpSession", "context_parameter", "take_receiver"]

logger = logging.getLogger("hatbox.extensions")

WINDOW: Final = 1 << 18
"""The maximum cost of unacknowledged texts, as in page_pipe.js."""
TEXT_COST: Final = 1 << 17
"""The cost of each text in addition to its characters, as in page_pipe.js."""
_MAX_COMMANDS: Final = 4  # in flight; further frames wait, and are sent together
_HIGH_WATER: Final = 1 << 16  # bytes in flight or waiting, beyond which the scripts count as not reading
_ACKNOWLEDGE_DELAY: Final = 0.005  # seconds until unhandled messages are counted again
_CALL: Final = "function(text, total) { this(text, total); }"


class CdpSession(Protocol):
    """A CDP session, such as Playwright's CDPSession."""

    def send(self, method: str, params: dict[str, Any] | None = None) -> Awaitable[Any]:
        """Send a command, also if the result is never awaited. Raises an Exception if it fails."""


async def take_receiver(session: CdpSession, context_id: str | int, name: str) -> str | None:
    """Take the receive function from the global `name` of an execution context, and delete it.

    `context_id` is the uniqueId of the context, or its number where only one process is possible. Returns the object id
    of the function; None if the context has no such global.
    """
    expression = f"(name => {{ const taken = globalThis[name]; delete globalThis[name]; return taken; }})({name!r})"
    result = await session.send("Runtime.evaluate", {"expression": expression, **context_parameter(context_id)})
    object_id = result["result"].get("objectId")
    return object_id if isinstance(object_id, str) else None


def context_parameter(context_id: str | int) -> dict[str, str | int]:
    """The parameter of Runtime.evaluate for an execution context: its uniqueId, or its number."""
    return {"contextId": context_id} if isinstance(context_id, int) else {"uniqueContextId": context_id}


class CdpConnection:
    """See hatbox.extensions.runtime.script_connection.ScriptConnection.

    `receive_function` resolves to the object id of the receive function (take_receiver), or None. `on_end` is called
    when the host ends the connection because of `reason`, and should close the document: it may be in a loop. The
    scripts of a gated connection send nothing until the receive function was called, so it is called at once.
    """

    def __init__(
        self,
        session: CdpSession,
        receive_function: Awaitable[str | None],
        limits: RuntimeLimits,
        on_end: Callable[[Exit], object] = lambda _: None,
        *,
        is_gated: bool = False,
    ) -> None:
        self.receiver: Receiver = _EarlyMessages()
        """Receives the frames."""
        self.running = True
        """Whether it has not ended."""
        self.reading = True
        """Whether received texts are acknowledged. The scripts stop sending without acknowledgements."""
        self._session = session
        self._limits = limits
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[Exit] = self._loop.create_future()
        self._is_gated = is_gated
        self._function: str | None = None
        self._waiting: list[str] = []
        """JSON arrays without brackets, for the next command."""
        self._waiting_bytes = 0
        self._in_flight: dict[asyncio.Future[Any], int] = {}
        self._in_flight_bytes = 0
        self._writable = True
        self._received = 0
        """The cost of all received texts."""
        self._acknowledged = 0
        self._timer: asyncio.TimerHandle | None = None
        self._attaching = asyncio.ensure_future(self._attach(receive_function))

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when it has ended."""
        return self._exited if self._exited.done() else asyncio.shield(self._exited)

    def binding_called(self, text: str) -> None:
        """Handle the payload of a Runtime.bindingCalled event of this execution context."""
        if not self.running:
            return
        try:
            content = text.encode()
            if len(content) > self._limits.frame:
                raise ProtocolError(f"frame of {len(content)} bytes exceeds the limit of {self._limits.frame}")
            self._received += TEXT_COST + (len(text) if len(content) == len(text) else _units(text))
            self.receiver.received([WireFrame(decode_messages(content), len(content))])
        except UnicodeEncodeError:
            self.end(Exit("protocol", "text with a lone surrogate"))
        except ProtocolError as error:
            self.end(Exit("protocol", str(error)))
        self._acknowledge()

    def send(self, frame: bytes) -> None:
        """Send a frame, unless it has ended."""
        if not self.running:
            return
        content = content_of(frame)
        self._waiting.append(content[1:-1].decode())
        self._waiting_bytes += len(content)
        self._send_waiting()

    def set_reading(self, wanted: bool) -> None:
        """Pause or resume acknowledging texts."""
        self.reading = wanted
        if wanted:
            self._acknowledge()

    def end(self, reason: Exit) -> None:
        """End it because of the scripts, and close the document."""
        if self.running:
            self.closed(reason)
            self._on_end(reason)

    def closed(self, reason: Exit) -> None:
        """The execution context, its target or the session has ended."""
        if not self.running:
            return
        self.running = False
        self._attaching.cancel()
        if self._timer:
            self._timer.cancel()
        self._waiting.clear()
        self._exited.set_result(reason)

    async def stop(self, timeout: float = 1.0) -> Exit:  # noqa: ARG002 - ends at once
        """End it, and wait until callbacks of `exited` were called. The caller closes the document."""
        exited = asyncio.shield(self._exited)
        self.closed(Exit("stopped"))
        return await exited

    async def _attach(self, receive_function: Awaitable[str | None]) -> None:
        try:
            self._function = await receive_function
        except Exception as error:  # noqa: BLE001 - the context has just ended; the session has Playwright's errors
            self.closed(Exit("exited", f"taking the receive function failed: {error}"))
            return
        if self._function is None:
            self.end(Exit("crashed: it did not start", "the document has no receive function"))
            return
        if self._is_gated and not self._waiting:
            self._call("", 0)
        self._send_waiting()

    def _send_waiting(self) -> None:
        """Send what waits as one command, unless too many are in flight."""
        if self._function is not None and self._waiting and len(self._in_flight) < _MAX_COMMANDS:
            text, size = f"[{','.join(self._waiting)}]", self._waiting_bytes
            self._waiting, self._waiting_bytes = [], 0
            self._call(text, size)
        self._check_buffer()

    def _call(self, text: str, size: int) -> None:
        if self.reading and not self._is_behind():
            self._acknowledged = self._received
        arguments = [{"value": text}, {"value": self._acknowledged}]
        params = {"objectId": self._function, "functionDeclaration": _CALL, "arguments": arguments, "silent": True}
        command = asyncio.ensure_future(self._session.send("Runtime.callFunctionOn", params))
        self._in_flight[command] = size
        self._in_flight_bytes += size
        command.add_done_callback(self._on_done)

    def _on_done(self, command: asyncio.Future[Any]) -> None:
        self._in_flight_bytes -= self._in_flight.pop(command)
        if not command.cancelled() and (error := command.exception()) is not None:
            # The context or its target has just ended: an event reports it. A failed command is not sent again.
            logger.debug("Runtime.callFunctionOn failed: %s", error)
        if self.running:
            self._send_waiting()

    def _check_buffer(self) -> None:
        size = self._in_flight_bytes + self._waiting_bytes
        if size > self._limits.max_send_buffer:
            detail = f"it does not read; the send buffer exceeds {self._limits.max_send_buffer} bytes"
            self.end(Exit("unresponsive", detail))
        elif self._writable == (size > _HIGH_WATER):
            self._writable = not self._writable
            self.receiver.writable(self._writable)

    def _acknowledge(self) -> None:
        """Acknowledge texts in a command of their own if the scripts will soon wait for it."""
        if not self.running or not self.reading or self._received - self._acknowledged < WINDOW // 2:
            return
        if self._function is None or self._is_behind():
            if self._timer is None:
                self._timer = self._loop.call_later(_ACKNOWLEDGE_DELAY, self._acknowledge_later)
        else:
            self._call("", 0)

    def _acknowledge_later(self) -> None:
        self._timer = None
        self._acknowledge()

    def _is_behind(self) -> bool:
        """Whether received messages wait to be handled."""
        return self.receiver.is_behind


class _EarlyMessages:
    """Receives messages before the runtime exists."""

    is_behind = False

    def received(self, _: Sequence[WireFrame]) -> None:
        raise ProtocolError("a message before the host is ready")

    def writable(self, _: bool) -> None:
        pass


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
