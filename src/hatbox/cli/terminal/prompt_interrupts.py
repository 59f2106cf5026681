"""Ctrl-C at a prompt: interrupts what the prompt does, never the code that handles the interrupt."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Final

__all__ = ["PromptInterrupts"]

_INTERVAL: Final = 0.2  # seconds


class PromptInterrupts:
    """Raises one KeyboardInterrupt for each `accept`. Used in the main thread, as a context manager.

    Python's readline does not notice a signal that arrives just before it waits for a key, and ignores an exception of
    a completer. A timer interrupts that wait, so that such a Ctrl-C is handled late instead of never.
    """

    def __init__(self) -> None:
        self._accepting = False
        self._is_postponed = False

    def __enter__(self) -> PromptInterrupts:
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        if sys.platform != "win32":
            self._previous_alarm = signal.signal(signal.SIGALRM, self._check)
            signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._previous_alarm)
        signal.signal(signal.SIGINT, self._previous)

    def accept(self) -> None:
        """From now on, Ctrl-C raises KeyboardInterrupt, once."""
        self._accepting = True

    def postpone(self) -> None:
        """Raise the interrupt that was caught again, at the next tick of the timer."""
        self._is_postponed = self._accepting = True

    def _check(self, number: int, frame: FrameType | None) -> None:
        if self._is_postponed:
            self._interrupt(number, frame)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._accepting:
            self._accepting = self._is_postponed = False
            raise KeyboardInterrupt
