"""Message events. A listener responds by calling sendResponse, by returning a promise, or not at all."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any, Final, Generic, TypeVar

from hatbox.errors import ApiError, HatboxError
from hatbox.events import NO_RESPONSE, NOT_DELIVERED, Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import ExtensionContext

__all__ = ["Delivery", "MessageEvent"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.messaging")

_UNEXPECTED: Final = "An unexpected error occurred"


class Delivery(Generic[T]):
    """The delivery of a message to one listener, which accepts it if its context is the recipient."""

    def __init__(self, content: T) -> None:
        self.content = content
        self.accepted_by: ExtensionContext | None = None
        self.response: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def respond(self, value: Any = UNDEFINED) -> None:
        """Respond. Only the first response counts."""
        if not self.response.done():
            self.response.set_result(value)


class MessageEvent(Event[Delivery[T]]):
    """An event whose listeners accept deliveries and may respond."""

    def deliver(self, content: T) -> list[tuple[Delivery[T], asyncio.Future[Any]]]:
        """Deliver a message to every listener; returns the accepted deliveries with their responses.

        A response is NO_RESPONSE if the listener has none, NOT_DELIVERED if its context closed before. Exceptions of a
        listener become ApiErrors.
        """
        accepted: list[tuple[Delivery[T], asyncio.Future[Any]]] = []
        for listener in list(self._listeners):
            delivery = Delivery(content)
            try:
                result = listener(delivery)
            except Exception as error:  # noqa: BLE001 - the sender receives it
                accepted.append((delivery, asyncio.ensure_future(_fail(error))))
            else:
                if delivery.accepted_by is not None:
                    accepted.append((delivery, asyncio.ensure_future(_response(delivery, result))))
        return accepted

    async def request(self, content: T) -> Any:
        """Deliver a message; returns the first response, NO_RESPONSE, or NOT_DELIVERED if no listener received it."""
        responses = [response for _, response in self.deliver(content)]
        received = False
        first: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pending = len(responses)
        if not responses:
            return NOT_DELIVERED

        def on_response(response: asyncio.Future[Any]) -> None:
            nonlocal received, pending
            pending -= 1
            error = None if response.cancelled() else response.exception()
            if first.done():
                return
            if error is not None:
                first.set_exception(error)
            elif response.cancelled() or response.result() is NOT_DELIVERED:
                pass
            elif response.result() is NO_RESPONSE:
                received = True
            else:
                first.set_result(response.result())
            if not pending and not first.done():
                first.set_result(NO_RESPONSE if received else NOT_DELIVERED)

        for response in responses:
            response.add_done_callback(on_response)
        return await first


async def _response(delivery: Delivery[Any], result: Any) -> Any:
    """The response of a listener: its promise, or sendResponse(), which a listener that returns true calls later."""
    if inspect.isawaitable(result):
        try:
            return await result
        except Exception as error:  # noqa: BLE001
            return await _fail(error)
    if result is True:
        return await delivery.response
    return delivery.response.result() if delivery.response.done() else NO_RESPONSE


async def _fail(error: Exception) -> Any:
    if isinstance(error, ApiError):
        raise error
    if not isinstance(error, HatboxError):
        logger.error("message listener raised", exc_info=error)
    raise ApiError(str(error) or _UNEXPECTED) from error
