"""Events and their listeners, called in the order of registration."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from hatbox.tasks import Tasks

__all__ = ["NOT_DELIVERED", "NO_RESPONSE", "Event", "ResponseEvent"]

T = TypeVar("T")

NO_RESPONSE: Final = object()
"""The response of a listener that leaves the response to others."""

NOT_DELIVERED: Final = object()
"""The response of a listener that was removed before it was called."""

logger = logging.getLogger("hatbox.events")


class Event(Generic[T]):
    """An event with its listeners.

    A listener is a function of one argument; a coroutine function runs as a task. An exception is logged, and the next
    listener is called. Adding a listener twice has no effect.
    """

    def __init__(
        self,
        name: str,
        call_counter: Callable[[], int] = lambda: 0,
        on_listeners_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._call_counter = call_counter
        self._on_listeners_changed = on_listeners_changed
        self._listeners: dict[Callable[[T], Any], int] = {}
        self._options: dict[Callable[[T], Any], Any] = {}
        self._tasks = Tasks(self._log)

    def add_listener(self, listener: Callable[[T], Any], options: Any = None) -> None:
        """Call `listener` from now on, but not for the effects of calls that were made before.

        `options` are the filters of the listener, for emitters that collect data only on request. They do not filter.
        """
        if not callable(listener):
            raise TypeError(f"listener must be callable: {listener!r}")
        if listener not in self._listeners:
            self._listeners[listener] = self._call_counter()
            self._options[listener] = options
            try:
                self._on_listeners_changed()
            except BaseException:
                del self._listeners[listener], self._options[listener]
                raise

    def remove_listener(self, listener: Callable[[T], Any]) -> None:
        """Stop calling `listener`. Does nothing if it was not added."""
        if self._listeners.pop(listener, None) is not None:
            del self._options[listener]
            self._on_listeners_changed()

    def has_listener(self, listener: Callable[[T], Any]) -> bool:
        """Whether `listener` is registered."""
        return listener in self._listeners

    @property
    def listener_options(self) -> list[Any]:
        """The options of each listener."""
        return list(self._options.values())

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def emit(self, payload: T, caused_by: int | None = None) -> None:
        """Call the listeners that were registered before call `caused_by`.

        With None, a change by another process, call all listeners.
        """
        for listener, registered in list(self._listeners.items()):
            if (caused_by is None or registered < caused_by) and listener in self._listeners:
                self._call(listener, payload)

    def _call(self, listener: Callable[[T], Any], payload: T) -> None:
        try:
            result = listener(payload)
            if asyncio.iscoroutine(result):
                self._tasks.spawn(result)
        except Exception:
            logger.exception("a listener of %s raised", self.name)

    def _log(self, error: BaseException) -> None:
        logger.error("a listener of %s raised", self.name, exc_info=error)


class ResponseEvent(Event[T]):
    """An event that collects the return values of its listeners, in this process only."""

    async def collect(self, payload: T) -> list[Any]:
        """Call all listeners, then wait for their responses, in the order of registration.

        The response of a listener that raises is None; the exception is logged.
        """
        return list(await asyncio.gather(*self.dispatch(payload)))

    def dispatch(self, payload: T) -> list[asyncio.Future[Any]]:
        """Call all listeners. Returns a future for each response, in the order of registration."""
        return [asyncio.ensure_future(self._respond(listener, payload)) for listener in list(self._listeners)]

    async def _respond(self, listener: Callable[[T], Any], payload: T) -> Any:
        try:
            response = listener(payload)
            return await response if inspect.isawaitable(response) else response
        except Exception:
            logger.exception("a listener of %s raised", self.name)
            return None
