"""What an extension reports with browser.test: assertions, messages, and the end of its test."""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from hatbox.tasks import Tasks

__all__ = ["ScriptAssertion", "ScriptReports"]

T = TypeVar("T")


class ScriptAssertion(NamedTuple):
    """One assertion of browser.test."""

    passed: bool
    message: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.message}"


class ScriptReports:
    """Collects the reports of one extension."""

    def __init__(self) -> None:
        self.assertions: list[ScriptAssertion] = []
        """All assertions, in their order."""
        self.log: list[str] = []
        """The texts of browser.test.log()."""
        self._messages: defaultdict[str, deque[list[Any]]] = defaultdict(deque)
        self._handlers: dict[str, Callable[..., object]] = {}
        self._tasks = Tasks(self._fail)
        self._ends: deque[ScriptAssertion] = deque()
        self._changed = asyncio.Event()

    @property
    def failures(self) -> list[str]:
        """The messages of the assertions that failed."""
        return [each.message for each in self.assertions if not each.passed]

    def receive(self, kind: str, values: list[Any]) -> None:
        """Receive a report of the extension."""
        if kind in ("pass", "fail"):
            self.assertions.append(ScriptAssertion(kind == "pass", str(values[0])))
        elif kind == "message":
            name, *rest = values or [""]
            self._receive_message(str(name), rest)
        elif kind == "log":
            self.log.append(str(values[0]))
        else:
            self._ends.append(ScriptAssertion(kind == "notifyPass", str(values[0])))
        self._changed.set()

    def on_message(self, name: str, handler: Callable[..., object]) -> None:
        """Call a function with the values of each message with this name, also of those received before."""
        self._handlers[name] = handler
        for values in self._messages.pop(name, ()):
            self._receive_message(name, values)

    def _receive_message(self, name: str, values: list[Any]) -> None:
        handler = self._handlers.get(name)
        if handler is None:
            self._messages[name].append(values)
            return
        try:
            result = handler(*values)
        except Exception as error:  # noqa: BLE001 - of the test: it fails when it ends
            self._fail(error)
        else:
            if inspect.iscoroutine(result):
                self._tasks.spawn(result)

    def _fail(self, error: BaseException) -> None:
        self.assertions.append(ScriptAssertion(False, f"on_message: {error!r}"))
        self._changed.set()

    async def message(self, name: str, timeout: float) -> Any:
        """Wait for the next message with this name. Returns its value, or a list of several; None without any."""
        values = await self._next(lambda: self._messages[name], timeout, f"the message {name!r}")
        return values if len(values) > 1 else (values[0] if values else None)

    async def end(self, name: str | None, timeout: float) -> None:
        """Wait for notifyPass() or notifyFail(). Raises AssertionError after notifyFail and for failed assertions."""
        ended = await self._next(lambda: self._ends, timeout, "notifyPass() or notifyFail()")
        if name is not None and ended.message != name:
            raise AssertionError(f"the test ended with {ended.message!r}, not {name!r}")
        problems = self.failures if ended.passed else [*self.failures, f"notifyFail({ended.message!r})"]
        if problems:
            raise AssertionError("\n".join(problems))

    async def _next(self, queue: Callable[[], deque[T]], timeout: float, expected: str) -> T:
        try:
            async with asyncio.timeout(timeout):
                while not queue():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            waiting = {name: len(each) for name, each in self._messages.items() if each}
            raise TimeoutError(
                f"{expected} was not received in {timeout:g} s. Received: messages {waiting}, failures {self.failures}"
            ) from None
        return queue().popleft()
