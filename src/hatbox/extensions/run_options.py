"""How an extension is run: limits, debugging, and the callbacks of the program that runs it. Pure data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hatbox.api.caller import PermissionPrompt, TestReporter
from hatbox.extensions.background_place import BackgroundPlace
from hatbox.extensions.runtime import DenoProcess, Exit, LogEntry, RuntimeLimits

__all__ = ["RunOptions"]


class RunOptions(NamedTuple):
    """How an extension is run, and the callbacks of the program that runs it."""

    limits: RuntimeLimits = RuntimeLimits()
    inspect: bool = False
    """Whether DevTools can attach. Such an extension is never suspended."""
    idle_seconds: float = 30.0
    """The idle time after which an event page is suspended. The default is that of Firefox."""
    decide: PermissionPrompt | None = None
    """Grants or denies requested permissions. Without it they are denied."""
    child: DenoProcess | None = None
    """A process that was started ahead, for the first run."""
    on_run: Callable[[], None] = lambda: None
    """Called when scripts start to run. It may be called again."""
    on_log: Callable[[LogEntry], None] | None = None
    """Receives console messages and uncaught errors. Without it they are logged."""
    on_exit: Callable[[Exit, float | None], None] | None = None
    """Called when the extension ends and was not stopped by the caller, with the seconds until it restarts."""
    on_test_report: TestReporter | None = None
    """Receives the reports of browser.test. Without it, scripts have no browser.test."""
    background: BackgroundPlace | None = None
    """Where the background runs. Without it, a background page runs in Chromium while that engine runs."""
