"""Listeners, and their calling in the order in which they were registered. Knows nothing of what happened."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

__all__ = ["NOT_DELIVERED", "NO_RESPONSE", "Event", "ResponseEvent"]

T = TypeVar("T")

NO_RESPONSE: Final = object()
"""What a listener that has heard a question, and leaves the answer to others, may answer."""

NOT_DELIVERED: Final = object()
"""What stands for the answer of a listener that was gone before it heard."""

logger = logging.getLogger("hatbox.events")


class Event(Generic[T]):
    """Something that happens again and again, and those who want to hear of it.

    A listener is a function of one argument, or a coroutine function, which is then run as a task. One that raises is
    logged, and the next one is called all the same. Adding a listener twice has no effect.
    """

    def __init__(
        self,
        name: str,
        clock: Callable[[], int] = lambda: 0,
        on_interest: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._clock = clock
        self._on_interest = on_interest
        self._listeners: dict[Callable[[T], Any], int] = {}
        self._wishes: dict[Callable[[T], Any], Any] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    def add_listener(self, listener: Callable[[T], Any], wishes: Any = None) -> None:
        """Call `listener` for whatever happens from now on: not for what earlier, unfinished calls will bring.

        `wishes` say what it does not want to hear of. It is called all the same; they are for who would have to find it
        out first.
        """
        if not callable(listener):
            raise TypeError(f"a listener is a function, not {listener!r}")
        if listener not in self._listeners:
            self._listeners[listener] = self._clock()
            self._wishes[listener] = wishes
            try:
                self._on_interest()
            except BaseException:
                del self._listeners[listener], self._wishes[listener]
                raise

    def remove_listener(self, listener: Callable[[T], Any]) -> None:
        """Stop calling `listener`; one that was never added is no error."""
        if self._listeners.pop(listener, None) is not None:
            del self._wishes[listener]
            self._on_interest()

    def has_listener(self, listener: Callable[[T], Any]) -> bool:
        """Whether `listener` is registered."""
        return listener in self._listeners

    @property
    def wishes(self) -> list[Any]:
        """What each listener has said that it wants to hear of."""
        return list(self._wishes.values())

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def emit(self, payload: T, caused_by: int | None = None) -> None:
        """Tell every listener that was registered before the call number `caused_by` was made.

        None is for causes outside this process: all listeners hear of those.
        """
        for listener, registered in list(self._listeners.items()):
            if (caused_by is None or registered < caused_by) and listener in self._listeners:
                self._call(listener, payload)

    def _call(self, listener: Callable[[T], Any], payload: T) -> None:
        try:
            result = listener(payload)
            if asyncio.iscoroutine(result):
                task = asyncio.ensure_future(result)
                self._tasks.add(task)  # the loop itself keeps only a weak reference
                task.add_done_callback(self._report)
        except Exception:
            logger.exception("a listener of %s raised", self.name)

    def _report(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a listener of %s raised", self.name, exc_info=error)


class ResponseEvent(Event[T]):
    """An event whose listeners answer: whoever asks gets what they return. Nothing of it leaves this process."""

    async def collect(self, payload: T) -> list[Any]:
        """What each listener answers, in the order of their registration; None for one that raises, which is logged.

        All are asked before the first answer is awaited.
        """
        return list(await asyncio.gather(*self.dispatch(payload)))

    def dispatch(self, payload: T) -> list[asyncio.Future[Any]]:
        """Ask all, and wait for nobody: each answer, in the order of registration, is a future of its own."""
        return [asyncio.ensure_future(self._answer(listener, payload)) for listener in list(self._listeners)]

    async def _answer(self, listener: Callable[[T], Any], payload: T) -> Any:
        try:
            answer = listener(payload)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception:
            logger.exception("a listener of %s raised", self.name)
            return None
