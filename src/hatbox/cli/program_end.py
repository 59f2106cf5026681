"""The end of a command that runs until a signal arrives, its input ends, or it has nothing left to serve.

The orderly end saves, closes pages and stops the processes that this program has started. It has a limit. Then what is
recorded only in memory is saved, those processes are killed, and the program exits with a message that says what it
waited for. A thread does that, because the event loop may be blocked.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final, TypeAlias

from hatbox import child_processes, cli
from hatbox.cli.terminal.command_errors import FAILED, CommandError, report

__all__ = ["ENDING_SIGNALS", "ProgramEnd", "Save", "on_signal", "stop_on_signals"]

ENDING_SIGNALS: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a program, unlike Ctrl-C, which may interrupt what it does."""
Save: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_ORDERLY_SECONDS: Final = 7.0  # service managers and clients of MCP servers kill a program after ten seconds or more
_SAVE_SECONDS: Final = 1.0
_PRINT_SECONDS: Final = 0.5  # the reader of a pipe may have stopped reading


class ProgramEnd:
    """The end of this program, while a task runs its command."""

    def __init__(self, *, as_json: bool = False, seconds: float = _ORDERLY_SECONDS) -> None:
        self.signal = 0
        """The signal that has started the end; 0 for none."""
        self._as_json = as_json
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._save: Save | None = None
        self._cause = ""

    def save_with(self, save: Save) -> None:
        """Save with this function if the orderly end does not end in time."""
        self._save = save

    def begin(self, cause: str) -> None:
        """Start the limit. May be called twice, and by a signal handler: it takes no lock."""
        if not self._cause:
            self._cause = cause
            if cli.is_program:
                _thread.start_new_thread(self._watch, ())

    def _watch(self) -> None:
        child_processes.continue_all()
        time.sleep(self._seconds)
        waited_for = self._waited_for()
        self._save_now()
        child_processes.kill_all()
        message = f"{self._cause}: the orderly end took more than {self._seconds:g} s. It waited for {waited_for}."
        _within(_PRINT_SECONDS, lambda: report(CommandError("NotEnded", message), as_json=self._as_json))
        _within(_PRINT_SECONDS, sys.stdout.flush)
        os._exit(FAILED)

    def _save_now(self) -> None:
        if self._save is not None:
            with contextlib.suppress(Exception):  # the loop is blocked or closed, or the profile
                asyncio.run_coroutine_threadsafe(self._save(), self._loop).result(_SAVE_SECONDS)

    def _waited_for(self) -> str:
        """The processes that have not ended; without one, the function that has not returned."""
        processes = [f"{name} (process {pid})" for pid, name in child_processes.running().items()]
        with contextlib.suppress(Exception):  # the task may go on meanwhile
            return ", ".join(processes) or _running_function() or _awaiting_function(self._task) or "its threads"
        return "its threads"


@contextlib.contextmanager
def stop_on_signals(
    numbers: Sequence[int] = (signal.SIGINT, *ENDING_SIGNALS),
    *,
    as_json: bool = False,
    seconds: float = _ORDERLY_SECONDS,
) -> Iterator[ProgramEnd]:
    """Cancel the body on a signal, and return without an error. The end has a limit from then on."""
    end, task = ProgramEnd(as_json=as_json, seconds=seconds), asyncio.current_task()

    def stop(number: int) -> None:
        if task and (number == signal.SIGINT or not end.signal):  # a second Ctrl-C cancels the clean-up too
            task.cancel()
        end.signal = end.signal or number

    with on_signal(numbers, stop, end):
        try:
            yield end
        except asyncio.CancelledError:
            if not end.signal:
                raise


@contextlib.contextmanager
def on_signal(numbers: Sequence[int], stop: Callable[[int], None], end: ProgramEnd) -> Iterator[None]:
    """Call a function in the event loop when a signal arrives, and start the limit, also if the loop is blocked.

    SIGTERM and SIGHUP stay ignored if they are, as with nohup.
    """
    loop = asyncio.get_running_loop()
    numbers = [each for each in numbers if each == signal.SIGINT or signal.getsignal(each) is not signal.SIG_IGN]
    for number in numbers:
        with contextlib.suppress(RuntimeError, ValueError):  # not the main thread, which alone receives signals
            _handle(loop, number, stop, end)
    try:
        yield
    finally:
        for number in numbers:
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(number)


def _handle(loop: asyncio.AbstractEventLoop, number: int, stop: Callable[[int], None], end: ProgramEnd) -> None:
    is_windows = False
    try:
        loop.add_signal_handler(number, stop, number)
    except NotImplementedError:
        is_windows = True

    def handle(*_: object) -> None:
        end.begin(signal.Signals(number).name)
        if is_windows:
            loop.call_soon_threadsafe(stop, number)

    # Otherwise the loop calls `stop` when it reads the number from its wakeup descriptor, whatever the handler is.
    signal.signal(number, handle)


def _within(seconds: float, work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)


def _running_function() -> str:
    """Where the main thread is; empty if it waits for events or threads."""
    from hatbox.cli.commands.run.script_errors import is_hatbox, is_own

    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    if frame is not None and frame.f_code.co_filename.endswith(("selectors.py", "threading.py")):
        return ""
    while frame is not None and not is_own(frame.f_code.co_filename) and not is_hatbox(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}, line {frame.f_lineno}, in {frame.f_code.co_name}"


def _awaiting_function(task: asyncio.Task[Any] | None) -> str:
    """The innermost function of Hatbox or of a script that a task awaits."""
    from hatbox.cli.commands.run.script_errors import is_hatbox, is_own

    awaited: Any = task.get_coro() if task is not None and not task.done() else None
    found = ""
    while awaited is not None:
        code = getattr(awaited, "cr_code", None) or getattr(awaited, "ag_code", None)
        if code is not None and (is_hatbox(code.co_filename) or is_own(code.co_filename)):
            found = str(getattr(awaited, "__qualname__", code.co_name))
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "ag_await", None)
    return found
