"""Executes a user's script with `await` at the top level, as if Python had been started with it, in an open profile.

Errors are reported with the files and lines of the script, without those of Hatbox and Python.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import gc
import inspect
import logging
import select
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TypeAlias

from hatbox import schema
from hatbox.cli.arguments.profile_creation import may_create
from hatbox.cli.commands.run.script_errors import is_hatbox, is_own, script_error, syntax_error
from hatbox.cli.program_end import ENDING_SIGNALS, ProgramEnd, Save, stop_on_signals
from hatbox.cli.terminal.command_errors import FAILED, CommandError, Interrupted, report
from hatbox.cli.terminal.foreground import logging_to
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

__all__ = ["compile_script", "execute"]

_OpenScope: TypeAlias = Callable[[], AbstractAsyncContextManager[Mapping[str, object]]]
"""Opens what the script uses: the names that are in scope, until the script has ended."""


def execute(
    script: Path,
    arguments: Sequence[str],
    profile: str | None,
    *,
    permissions: Sequence[str] | None,
    grant: str | None,
    as_json: bool,
) -> int:
    """Run a script; returns the exit status that it sets, or 1 if it failed.

    Its `browser` is that of a grant, or has these permissions. Without both it has every permission, and the script has
    `profile` too.
    """
    code = compile_script(_read_script(script), script)
    opened = Profile(profile, create=may_create(profile))

    @contextlib.asynccontextmanager
    async def open_scope() -> AsyncIterator[Mapping[str, object]]:
        async with opened:
            if grant is not None:
                yield {"browser": await opened.browser(grant=grant)}
            elif permissions is not None:
                yield {"browser": opened.browser(permissions)}
            else:
                yield {"browser": opened.browser([*schema.permissions(), ALL_URLS]), "profile": opened}

    execution = _Execution(script, code, opened.save, as_json=as_json)
    with _as_main_program(script, arguments) as module, execution.reporting_errors():
        status = execution.run(open_scope, module)
        del module
    gc.collect()  # asyncio reports the error of an unawaited future when the future is collected
    return status or execution.status


class _Execution:
    """One run of a script, and its errors."""

    def __init__(self, script: Path, code: CodeType, save: Save, *, as_json: bool) -> None:
        self.status = 0
        self._script = script
        self._code = code
        self._save = save
        self._as_json = as_json

    def run(self, open_scope: _OpenScope, module: ModuleType) -> int:
        try:
            return asyncio.run(self._main(open_scope, module))
        except SystemExit as stop:  # a task of the script may raise it too
            return _exit_status(stop)

    async def _main(self, open_scope: _OpenScope, module: ModuleType) -> int:
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        with stop_on_signals(ENDING_SIGNALS, as_json=self._as_json) as end:
            end.save_with(self._save)
            async with open_scope() as scope:
                vars(module).update(scope)
                with _interruptible(end) as interrupted:
                    await asyncio.sleep(0)  # a signal that has cancelled this task until now is not lost
                    status = await self._outcome(FunctionType(self._code, vars(module)), interrupted)
                    await self._cancel_tasks()
                return status
        raise Interrupted(end.signal)

    async def _outcome(self, body: Callable[[], Any], interrupted: Callable[[], bool]) -> int:
        try:
            if interrupted():
                raise KeyboardInterrupt
            result = body()
            if inspect.iscoroutine(result):
                await result
        except SystemExit as stop:
            return _exit_status(stop)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError as error:
            if interrupted():
                raise KeyboardInterrupt from None
            if (task := asyncio.current_task()) and task.cancelling():
                raise  # another task raised SystemExit, and asyncio.run cancels this one
            return self._failed(error)
        except BrokenPipeError as error:
            if _is_output_closed():
                raise
            return self._failed(error)
        except BaseException as error:  # noqa: BLE001 - every error is reported
            return self._failed(error)
        return 0

    async def _cancel_tasks(self) -> None:
        """Cancel the script's tasks while its scope is still open, so that their cleanup can use it."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                self._failed(outcome, "an unawaited task failed")

    @contextlib.contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Report errors of listeners, threads and finalizers, which would otherwise be printed as tracebacks."""
        previous, threading.excepthook = threading.excepthook, self._on_thread_error
        unraisable, sys.unraisablehook = sys.unraisablehook, self._on_unraisable
        try:
            with logging_to(_ScriptLogHandler(self.logged)):
                yield
        finally:
            threading.excepthook = previous
            sys.unraisablehook = unraisable

    def _on_loop_error(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:
            self.report(CommandError("ScriptError", f"{self._script}: {context['message']}"))
            return
        future = context.get("future", context.get("task"))
        kind = "task" if isinstance(future, asyncio.Task) else "call"
        what = f"an unawaited {kind} failed" if future is not None else "a callback failed"
        self._failed(error, what)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not None:
            self._failed(unraisable.exc_value, unraisable.err_msg or "a finalizer failed")

    def _on_thread_error(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and not isinstance(arguments.exc_value, SystemExit):
            name = arguments.thread.name if arguments.thread else "?"
            self._failed(arguments.exc_value, f"thread {name} failed")

    def _failed(self, error: BaseException, what: str = "") -> int:
        return self.report(script_error(error, self._script, what))

    def report(self, error: CommandError) -> int:
        self.status = FAILED
        report(error, as_json=self._as_json)
        return FAILED

    def logged(self, message: str, error: BaseException | None) -> None:
        if error is None:
            self.report(CommandError("Warning", message))
        else:
            self._failed(error, message)


class _ScriptLogHandler(logging.Handler):
    """Reports the log of Hatbox like the errors of the script."""

    def __init__(self, logged: Callable[[str, BaseException | None], None]) -> None:
        super().__init__(logging.WARNING)
        self._logged = logged

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._logged(record.getMessage(), error)


def _read_script(script: Path) -> bytes:
    """The source of a script."""
    try:
        return script.read_bytes()
    except OSError as error:
        raise CommandError("ScriptNotReadable", f"{script}: {error.strerror}") from error


def compile_script(source: bytes, script: Path) -> CodeType:
    """Compile a script, which may use `await` at the top level."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        code: CodeType = compile(source, str(script), "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        raise syntax_error(error, script) from error
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes; nesting that is too deep
        raise CommandError("SyntaxError", f"{script}: {error}") from error
    return code


@contextlib.contextmanager
def _as_main_program(script: Path, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """Replace `__main__`, sys.argv and sys.path while the script runs, as if Python had been started with it."""
    module = ModuleType("__main__")
    module.__file__ = str(script)
    vars(module)["__builtins__"] = builtins
    before = sys.modules["__main__"], sys.argv, sys.path
    sys.modules["__main__"] = module
    sys.argv, sys.path = [str(script), *arguments], [str(script.resolve().parent), *sys.path]
    try:
        yield module
    finally:
        sys.modules["__main__"], sys.argv, sys.path = before


@contextlib.contextmanager
def _interruptible(end: ProgramEnd) -> Iterator[Callable[[], bool]]:
    """Let signals raise an exception in the script's own code, and cancel the script where it awaits.

    asyncio alone only cancels, which does not stop a script that never awaits. Hatbox's own code is never interrupted.
    Ctrl-C raises KeyboardInterrupt. SIGTERM and SIGHUP raise SystemExit, once, and not in callbacks and other tasks of
    the script: the exception would end the event loop, and the script could not clean up.
    """
    loop, task, count = asyncio.get_running_loop(), asyncio.current_task(), 0

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        while frame and not is_hatbox(frame.f_code.co_filename):
            if count > 1 or is_own(frame.f_code.co_filename):
                raise KeyboardInterrupt
            frame = frame.f_back
        cancel()

    def terminate(number: int, frame: FrameType | None) -> None:
        end.begin(signal.Signals(number).name)
        if end.signal:
            return
        end.signal = number
        while frame and asyncio.current_task(loop) is task and not is_hatbox(frame.f_code.co_filename):
            if is_own(frame.f_code.co_filename):
                raise SystemExit(Interrupted(number).status)
            frame = frame.f_back
        cancel()

    def cancel() -> None:
        if task:
            loop.call_soon_threadsafe(task.cancel)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    handlers = {signal.SIGINT: interrupt} | {
        each: terminate for each in ENDING_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN
    }
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with _woken_by_signals(loop):
            yield lambda: count > 0
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let signals wake the loop: a signal just before select() would otherwise be handled only after it returns."""
    if sys.platform == "win32":  # the loop does so itself
        yield
        return
    receiver, sender = socket.socketpair()
    for each in (receiver, sender):
        each.setblocking(False)
    loop.add_reader(receiver, receiver.recv, 4096)
    previous = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        latest = signal.set_wakeup_fd(previous)
        if latest != sender.fileno():  # the loop's own descriptor: the script has added signal handlers
            signal.set_wakeup_fd(latest)
        loop.remove_reader(receiver)
        receiver.close()
        sender.close()


def _is_output_closed() -> bool:
    try:
        sys.stdout.flush()
        poll = select.poll()
        poll.register(sys.stdout, 0)  # POLLERR and POLLHUP are always reported
        return bool(poll.poll(0))
    except BrokenPipeError:
        return True
    except (AttributeError, OSError, ValueError):  # no poll() on this system, or the stream has no descriptor
        return False


def _exit_status(stop: SystemExit) -> int:
    """The exit status as Python defines it: a number is the status, any other value is a message."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    sys.stderr.write(f"{stop.code}\n")
    return FAILED
