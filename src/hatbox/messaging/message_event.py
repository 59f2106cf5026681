"""Events that each listener is offered, and may answer: with a function, with what it returns, or not at all."""

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

UNEXPECTED: Final = "An unexpected error occurred"


class Delivery(Generic[T]):
    """What one listener may take, if it is meant for it."""

    def __init__(self, content: T) -> None:
        self.content = content
        self.accepted_by: ExtensionContext | None = None
        self.response: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def respond(self, value: Any = UNDEFINED) -> None:
        """Answer. The first answer counts."""
        if not self.response.done():
            self.response.set_result(value)


class MessageEvent(Event[Delivery[T]]):
    """An event whose listeners take offers."""

    def deliver(self, content: T) -> list[tuple[Delivery[T], asyncio.Future[Any]]]:
        """Offer something to every listener; returns those that were taken, each with the answer.

        NO_RESPONSE is that of one who has none, UNHEARD of one who was gone before it heard. What a listener raises is
        raised as an ApiError.
        """
        taken: list[tuple[Delivery[T], asyncio.Future[Any]]] = []
        for listener in list(self._listeners):
            offer = Delivery(content)
            try:
                result = listener(offer)
            except Exception as error:  # noqa: BLE001 - whoever asks gets it
                taken.append((offer, asyncio.ensure_future(_failure(error))))
            else:
                if offer.accepted_by is not None:
                    taken.append((offer, asyncio.ensure_future(_answer(offer, result))))
        return taken

    async def request(self, content: T) -> Any:
        """The first answer, whoever gives it; NO_RESPONSE if there is none, UNHEARD if nobody has even heard."""
        answers = [answer for _, answer in self.deliver(content)]
        heard = False
        first: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        left = len(answers)
        if not answers:
            return NOT_DELIVERED

        def done(answer: asyncio.Future[Any]) -> None:
            nonlocal heard, left
            left -= 1
            error = None if answer.cancelled() else answer.exception()
            if first.done():
                return
            if error is not None:
                first.set_exception(error)
            elif answer.cancelled() or answer.result() is NOT_DELIVERED:
                pass
            elif answer.result() is NO_RESPONSE:
                heard = True
            else:
                first.set_result(answer.result())
            if not left and not first.done():
                first.set_result(NO_RESPONSE if heard else NOT_DELIVERED)

        for answer in answers:
            answer.add_done_callback(done)
        return await first


async def _answer(offer: Delivery[Any], result: Any) -> Any:
    """What a listener answers, as Firefox takes it: a promise, `true` for later, or what it responded meanwhile."""
    if inspect.isawaitable(result):
        try:
            return await result
        except Exception as error:  # noqa: BLE001
            return await _failure(error)
    if result is True:
        return await offer.response
    return offer.response.result() if offer.response.done() else NO_RESPONSE


async def _failure(error: Exception) -> Any:
    if isinstance(error, ApiError):
        raise error
    if not isinstance(error, HatboxError):
        logger.error("a listener raised", exc_info=error)
    raise ApiError(str(error) or UNEXPECTED) from error
