"""Connects ports of extensions with native applications: runtime.connectNative() and runtime.sendNativeMessage().

Messages are JSON text. At the end of the script, JavaScript converts them, so that they mean what they mean there.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable
from typing import Any, Final, NoReturn

from hatbox.errors import ApiError
from hatbox.javascript.wire_codec import without_undefined
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.native_manifest import find_native_application
from hatbox.messaging.native_process import NativeProcess
from hatbox.messaging.ports import Channel, Deliver, Port, WaitForAck
from hatbox.tasks import Tasks

__all__ = ["MAX_APPLICATIONS", "NativeMessaging"]

logger = logging.getLogger("hatbox.messaging")

MAX_APPLICATIONS: Final = 64
"""How many native applications of one extension may run at a time."""

_UNEXPECTED: Final = "An unexpected error occurred"
_MAX_DIGITS: Final = 16  # of an integer that JavaScript represents exactly
_END_NUMBER: Final = 0  # the only port of its context


class NativeMessaging:
    """The native applications that extensions of this process have started."""

    def __init__(self, deliver: Deliver, wait_for_ack: WaitForAck) -> None:
        self._deliver = deliver
        self._wait_for_ack = wait_for_ack
        self._count: dict[str, int] = {}
        self._ends: set[_NativeEnd] = set()
        self._closed = False
        self._tasks = Tasks(_log_error)

    def connect(self, sender: ExtensionContext, application: str, number: int) -> tuple[Port, asyncio.Future[None]]:
        """Open a port, which can be used at once. Without such an application it is disconnected later.

        Returns the port, and a future that is done when the application has ended.
        """
        channel = Channel(application, self._deliver, self._wait_for_ack)
        port = channel.connect(sender, number)
        return port, self._tasks.spawn(self._run(channel, sender.extension_id, application))

    async def send(self, extension_id: str, application: str, text: str) -> str:
        """Start an application, send it one message, and return its first answer as JSON text. Raises ApiError."""
        message = _encode(text)
        process = await self._start(extension_id, application)
        try:
            process.write(message)
            answer = await process.read()
            if answer is None:
                raise ApiError(_UNEXPECTED)
            return _checked(answer)
        finally:
            self._tasks.spawn(self._stop(process, extension_id))

    async def send_value(self, extension_id: str, application: str, message: Any) -> Any:
        """The same for a Python value, and an answer that is one."""
        return _parse(await self.send(extension_id, application, _json(message)))

    async def close(self) -> None:
        """Disconnect all ports, and wait until all applications have ended."""
        self._closed = True
        for end in list(self._ends):
            end.disconnect()
            end.on_disconnect()
        await self._tasks.wait()

    async def _run(self, channel: Channel, extension_id: str, application: str) -> None:
        try:
            process = await self._start(extension_id, application)
        except ApiError as error:
            channel.failed(error)
            return
        try:
            end = _NativeEnd(channel, extension_id, process)
            self._ends.add(end)
            channel.targets.append(end)
            channel.opened()
            if self._closed:
                end.disconnect()
                end.on_disconnect()
            failure = await _forward(process, end)
            self._ends.discard(end)
            if end.open:
                channel.fail(end, failure)
        finally:
            await self._stop(process, extension_id)

    async def _start(self, extension_id: str, application: str) -> NativeProcess:
        """Start an application. Raises ApiError with Firefox's message, which does not say why."""
        if self._count.get(extension_id, 0) >= MAX_APPLICATIONS:
            raise ApiError(f"At most {MAX_APPLICATIONS} native applications of an extension may run at a time")
        self._count[extension_id] = self._count.get(extension_id, 0) + 1
        try:
            found = await asyncio.to_thread(find_native_application, application, extension_id)
            if found is None:
                raise ApiError(f"No such native application {application}")
            try:
                return await NativeProcess.start(application, found.program, found.manifest, extension_id)
            except OSError as error:
                logger.warning("native application %s cannot be started: %s", application, error)
                raise ApiError(_UNEXPECTED) from error
        except BaseException:
            self._ended(extension_id)
            raise

    async def _stop(self, process: NativeProcess, extension_id: str) -> None:
        try:
            await process.stop()
        finally:
            self._ended(extension_id)

    def _ended(self, extension_id: str) -> None:
        self._count[extension_id] -= 1
        if not self._count[extension_id]:
            del self._count[extension_id]


class _NativeEnd(Port):
    """The end of a port at the application."""

    def __init__(self, channel: Channel, extension_id: str, process: NativeProcess) -> None:
        context = ExtensionContext(extension_id, "about:blank", "null", kind=None)
        super().__init__(channel, context, _END_NUMBER, None)
        context.ports[_END_NUMBER] = self
        self.disconnected = asyncio.Event()
        self._process = process
        self._is_javascript = channel.source.context.is_javascript

    def deliver(self, message: Any, _: Deliver, __: WaitForAck) -> Awaitable[Any] | None:
        """Write a message. Returns what the sender has to wait for, if the application reads slowly."""
        if self._is_javascript and not isinstance(message, str):
            raise ApiError("a message for a native application must be JSON text")
        text = message if self._is_javascript else _json(message)
        return self._process.write(_encode(text))

    def receive_text(self, text: str) -> Awaitable[Any] | None:
        """Deliver a message of the application: as JSON text to JavaScript, as a value to Python."""
        return self.post(text if self._is_javascript else _parse(text))

    def on_disconnect(self) -> None:
        """The extension has disconnected the port."""
        self.disconnected.set()


async def _forward(process: NativeProcess, end: _NativeEnd) -> ApiError | None:
    """Deliver the messages of an application until it, or the port, ends. Returns the error of its last one."""
    disconnected = asyncio.ensure_future(end.disconnected.wait())
    try:
        while True:
            reading = asyncio.ensure_future(process.read())
            await asyncio.wait((reading, disconnected), return_when=asyncio.FIRST_COMPLETED)
            if not end.open:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
                return None
            if (message := reading.result()) is None:
                return None
            if (received := end.receive_text(_checked(message))) is not None:
                await received
    except ApiError as error:
        return error
    finally:
        disconnected.cancel()


def _json(message: Any) -> str:
    try:
        return json.dumps(without_undefined(message), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ApiError(f"the message cannot be written as JSON: {error}") from None


def _parse(text: str) -> Any:
    """The value of JSON text, with JavaScript's numbers: long integers are floats."""
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < _MAX_DIGITS else float(digits))


def _encode(text: str) -> bytes:
    """A message for an application: JSON, or nothing for undefined. Raises ApiError for other text of a script."""
    try:
        if text:
            _check_json(text)
    except (ValueError, RecursionError) as error:
        raise ApiError(f"a message for a native application must be JSON text: {error}") from None
    return text.encode("utf-8", "surrogatepass")


def _checked(message: bytes) -> str:
    """The text of a message that is JSON. Raises ApiError with Firefox's message for others."""
    text = message.decode("utf-8", "replace")
    try:
        _check_json(text)
    except (ValueError, RecursionError) as error:
        logger.warning("a native application sent a message that is not JSON: %s", error)
        raise ApiError(_UNEXPECTED) from None
    return text


def _check_json(text: str) -> None:
    # Not msgspec, which refuses lone surrogates. Long integers are not converted: that takes quadratic time.
    json.loads(text, parse_constant=_refuse, parse_int=len)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _log_error(error: BaseException) -> None:
    logger.error("a connection to a native application failed", exc_info=error)
