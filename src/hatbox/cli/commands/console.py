"""The command console: a JavaScript prompt with `browser` in scope."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final, Protocol, TypeVar

from hatbox import schema
from hatbox.cli.arguments.extension_arguments import package_of
from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.terminal.extension_log import log_line
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import HatboxError, ScriptError
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.package_files import MANIFEST, Package
from hatbox.extensions.runtime import LogEntry
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

__all__ = ["console"]

T = TypeVar("T")

_DECLARATION: Final = re.compile(r"\s*(?:const|let|var)\s+(?=[\w$]+\s*=(?!=))")
_WORD: Final = re.compile(r"([\w$]+(?:\.[\w$]*)*)$")
_COMPLETION_TIMEOUT: Final = 2.0
_UNEXPECTED_END: Final = "Unexpected end of input"
_INCOMPLETE: Final = frozenset(  # V8 messages for code that ends too early
    {_UNEXPECTED_END, "Unterminated template literal", "missing ) after argument list"}
)
_INTERRUPT_INTERVAL: Final = 0.2  # seconds


class _Run(Protocol):
    """Runs a coroutine in the thread of the event loop, and waits for its result. Ctrl-C cancels it."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T: ...


def console(
    extension: Annotated[
        str | None,
        Option(
            "--extension",
            metavar="NAME|ID|PATH",
            help="Extension whose background scripts run, and whose scope the prompt is in: installed, or in a folder "
            "or archive. Default: no extension, and every permission.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a JavaScript prompt with `browser` in scope. Supports `await` and Tab completion. Ctrl-D exits.

    Incomplete code continues on the next line; an empty line ends it. Piped input is run statement by statement, and
    the first error exits with status 1. With --json, each result is a line of JSON.
    """
    opened = open_profile(profile)
    with _loop_in_thread() as run:
        run(opened.__aenter__())
        try:
            started = run(_start(opened, extension))
            if sys.stdin.isatty():
                print_line(f"{started.manifest.name}. `browser` is in scope. Press Ctrl-D to exit.", sys.stdout)
            failed = _Prompt(started, run, as_json=as_json).run()
        finally:
            run(opened.close())
    sys.exit(1 if failed else 0)


async def _start(opened: Profile, wanted: str | None) -> Extension:
    package = _ALL_PERMISSIONS if wanted is None else await package_of(opened, wanted)
    return await opened.extensions.start(package, on_log=_print_log)


class _Prompt:
    """The loop that reads, runs and prints. Runs in the main thread, which receives Ctrl-C."""

    def __init__(self, extension: Extension, run: _Run, *, as_json: bool) -> None:
        self._extension = extension
        self._run = run
        self._as_json = as_json
        self._interactive = sys.stdin.isatty()

    def run(self) -> bool:
        """Read until the end of input. Returns True if piped code failed."""
        with _PromptInterrupts() as interrupts, self._completion(interrupts):
            code: str | None = ""
            while code is not None:
                try:
                    interrupts.accept()
                    code = self._next(code)
                except KeyboardInterrupt:
                    if not self._interactive:
                        raise
                    print_line("", sys.stdout)
                    code = ""
                except HatboxError as error:
                    print_line(str(error), sys.stderr)
                    return True
        return False

    def _next(self, code: str) -> str | None:
        """Read the next line and run the code if it is complete. Returns code that is not; None at the end of input."""
        line = self._read("... " if code else "> ")
        if line is None:
            if code and not self._interactive:
                raise ScriptError(_UNEXPECTED_END, "SyntaxError")
            return None
        code += line if line.endswith("\n") else line + "\n"
        try:
            if not code.strip() or self._execute(code):
                return ""
            if self._interactive and not line.strip():
                raise ScriptError(_UNEXPECTED_END, "SyntaxError")
        except HatboxError as error:
            if not self._interactive:
                raise
            print_line(str(error), sys.stderr)
            return ""
        return code

    def _read(self, prompt: str) -> str | None:
        try:
            return input(prompt) if self._interactive else sys.stdin.readline() or None
        except EOFError:
            print_line("", sys.stdout)
            return None
        except SystemError as error:  # CPython: the handler of a second signal has run while input() raised the first
            if not isinstance(error.__cause__, KeyboardInterrupt):
                raise
            raise error.__cause__ from None

    def _execute(self, code: str) -> bool:
        """Run code and print its value. Returns False if the code is incomplete."""
        try:
            value = self._run(self._extension.evaluate(_as_assignment(code), inspect=not self._as_json))
        except ScriptError as error:
            if _is_incomplete(error):
                return False
            raise
        if self._as_json:
            print_json_line(value, sys.stdout)
        else:
            for part in value.splitlines() or [""]:
                print_line(part, sys.stdout)
        sys.stdout.flush()
        return True

    @contextlib.contextmanager
    def _completion(self, interrupts: _PromptInterrupts) -> Iterator[None]:
        try:
            import readline
        except ImportError:  # not on every system
            yield
            return
        readline.set_completer_delims(" \t\n()[]{},;=+-*/!&|<>?:'\"`")
        readline.set_completer(_completer(self._extension, self._run, interrupts))
        readline.parse_and_bind("tab: complete")
        try:
            yield
        finally:
            readline.set_completer(None)


@contextlib.contextmanager
def _loop_in_thread() -> Iterator[_Run]:
    """An event loop in another thread: it continues while this thread waits for input."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="hatbox-console", daemon=True)

    def run(work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    thread.start()
    try:
        yield run
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _is_incomplete(error: ScriptError) -> bool:
    return error.name == "SyntaxError" and error.message in _INCOMPLETE


def _as_assignment(line: str) -> str:
    """Turn a declaration with `await` into an assignment: await is wrapped in a function, where it would be local."""
    return _DECLARATION.sub("", line, count=1) if "await" in line else line


def _completer(extension: Extension, run: _Run, interrupts: _PromptInterrupts) -> Callable[[str, int], str | None]:
    """A completer for readline."""
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        nonlocal found
        if state == 0:
            try:
                found = run(completions(extension, text))
            except (HatboxError, TimeoutError):
                found = []
            except KeyboardInterrupt:
                found = []
                interrupts.postpone()
        return found[state] if state < len(found) else None

    return complete


async def completions(extension: Extension, text: str) -> list[str]:
    """The completions of code: `browser.tabs` for `browser.ta`."""
    match = _WORD.search(text)
    if match is None:
        return []
    owner, dot, start = match[1].rpartition(".")
    lead = text[: match.start()] + owner + dot
    names = await extension.evaluate(
        "(() => { const names = new Set();"
        f"  for (let o = Object({owner or 'globalThis'}); o; o = Object.getPrototypeOf(o))"
        "    for (const name of Object.getOwnPropertyNames(o)) names.add(name);"
        "  return [...names]; })()",
        timeout=_COMPLETION_TIMEOUT,
    )
    return sorted(lead + name for name in names if name.startswith(start) and name.isidentifier())


def _print_log(entry: LogEntry) -> None:
    print_line(log_line(entry), sys.stderr)


class _AllPermissions(Package):
    """An extension without scripts, with every permission."""

    area = "console@hatbox#console"

    def read(self, name: str) -> bytes | None:
        manifest = {
            "manifest_version": 2,
            "name": "Hatbox console",
            "version": "1",
            "browser_specific_settings": {"gecko": {"id": "console@hatbox"}},
            "permissions": [*sorted(schema.permissions()), ALL_URLS],
        }
        return json.dumps(manifest).encode() if name == MANIFEST else None

    def exists(self, name: str) -> bool:
        return name == MANIFEST

    def names(self, folder: str = "") -> tuple[str, ...]:
        return () if folder else (MANIFEST,)


_ALL_PERMISSIONS: Final = _AllPermissions(Path("console"))


class _PromptInterrupts:
    """Raises one KeyboardInterrupt for each `accept`. Used in the main thread, as a context manager.

    Python's readline does not notice a signal that arrives just before it waits for a key, and ignores an exception of
    a completer. A timer interrupts that wait, so that such a Ctrl-C is handled late instead of never.
    """

    def __init__(self) -> None:
        self._accepting = False
        self._is_postponed = False

    def __enter__(self) -> _PromptInterrupts:
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        if sys.platform != "win32":
            self._previous_alarm = signal.signal(signal.SIGALRM, self._check)
            signal.setitimer(signal.ITIMER_REAL, _INTERRUPT_INTERVAL, _INTERRUPT_INTERVAL)
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
