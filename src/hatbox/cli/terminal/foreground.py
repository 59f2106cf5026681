"""Commands that run in the foreground print warnings of Hatbox."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

from hatbox.cli.terminal.command_errors import CommandError, report

__all__ = ["log_to_stderr", "logging_to"]


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
