"""Commands that run in the foreground: they stop on signals, and print warnings of Hatbox."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Final

from hatbox.cli.terminal.command_errors import CommandError, report

__all__ = ["log_to_stderr", "logging_to", "stop_on_signals"]

_SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def stop_on_signals() -> Iterator[None]:
    """Cancel the body on SIGINT, SIGTERM or SIGHUP, and return without an error."""
    loop, task, stopped = asyncio.get_running_loop(), asyncio.current_task(), False

    def stop(number: int) -> None:
        nonlocal stopped
        if task and (number == signal.SIGINT or not stopped):  # a second Ctrl-C cancels the clean-up too
            task.cancel()
        stopped = True

    for number in _SIGNALS:
        _on_signal(loop, number, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        for number in _SIGNALS:
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(number)


def _on_signal(loop: asyncio.AbstractEventLoop, number: int, stop: Callable[[int], None]) -> None:
    try:
        loop.add_signal_handler(number, stop, number)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop, number))
    except (RuntimeError, ValueError):  # not the main thread, which alone receives signals
        pass


@contextlib.contextmanager
def log_to_stderr(*, as_json: bool) -> Iterator[None]:
    """Print log records of Hatbox to standard error, without tracebacks."""
    with logging_to(_StderrLogHandler(as_json=as_json)):
        yield


@contextlib.contextmanager
def logging_to(handler: logging.Handler) -> Iterator[None]:
    """Send log records of Hatbox to this handler only."""
    logger = logging.getLogger("hatbox")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


class _StderrLogHandler(logging.Handler):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__(logging.WARNING)
        self._as_json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and os.environ.get("HATBOX_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)
        message = record.getMessage() + (f": {type(error).__name__}: {error}" if error else "")
        if self._as_json:
            from hatbox.cli.terminal.output import print_json_line  # lazy: imports the store

            print_json_line({"event": "warning", "message": message}, sys.stderr)
        else:
            report(CommandError("Warning", message), as_json=False)
