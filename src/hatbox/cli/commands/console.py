"""The command console: a JavaScript prompt with `browser` in scope."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeVar

import typer

from hatbox import schema
from hatbox.cli.extension_log import log_line
from hatbox.cli.extension_names import package_of
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import HatboxError, ScriptError
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.package_files import MANIFEST, Package
from hatbox.extensions.runtime import LogEntry
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

__all__ = ["console"]

T = TypeVar("T")

_DECLARED: Final = re.compile(r"\s*(?:const|let|var)\s+(?=[\w$]+\s*=(?!=))")
_WORD: Final = re.compile(r"([\w$]+(?:\.[\w$]*)*)$")
_COMPLETION_SECONDS: Final = 2.0
_CUT_SHORT: Final = "SyntaxError: Unexpected end of input"
_INCOMPLETE: Final = frozenset(  # what the engine says of code that stops in the middle
    {"Unexpected end of input", "Unterminated template literal", "missing ) after argument list"}
)


class _Run(Protocol):
    """Waits for something that is done in the loop's thread. Ctrl-C ends the waiting."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T: ...


def console(
    extension: Annotated[
        str | None,
        typer.Option(
            "--extension",
            metavar="NAME|ID|PATH",
            help="An installed extension, or one in a folder or archive: its background runs, and the prompt is in its "
            "scope. Without it, the prompt holds every permission.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """A JavaScript prompt with `browser` in scope. `await` may stand anywhere; Tab completes; Ctrl-D ends it.

    What is not complete yet goes on in the next line; an empty line ends it. What is piped in is run piece by piece,
    and the first that fails ends it with status 1. With --json each result is a line of JSON.
    """
    path = path_of(profile)
    with _loop_of_its_own() as run:
        opened = Profile(path)
        run(opened.__aenter__())
        try:
            started = run(_started(opened, extension))
            if sys.stdin.isatty():
                print_line(f"{started.manifest.name}. browser is in scope; Ctrl-D ends.", sys.stdout)
            failed = _Prompt(started, run, as_json=as_json).converse()
        finally:
            run(opened.close())
    raise typer.Exit(1 if failed else 0)


async def _started(opened: Profile, wanted: str | None) -> Extension:
    if wanted is None:
        return await opened.extensions.start(_EVERYTHING, on_log=_tell)
    return await opened.extensions.start(await package_of(opened, wanted), on_log=_tell)


class _Prompt:
    """Reads, runs, prints, until there is nothing more to read. In the main thread: Ctrl-C is heard nowhere else."""

    def __init__(self, extension: Extension, run: _Run, *, as_json: bool) -> None:
        self._extension = extension
        self._run = run
        self._as_json = as_json
        self._interactive = sys.stdin.isatty()

    def converse(self) -> bool:
        """Whether it ended because something failed, which ends it only where nobody sits before it."""
        code = ""
        with self._completion():
            while True:
                try:
                    line = self._read("... " if code else "> ")
                    if line is None:
                        break
                    ended = self._interactive and not line.strip()
                    code += line if line.endswith("\n") else line + "\n"
                    if not code.strip() or self._execute(code):
                        code = ""
                    elif ended:
                        print_line(_CUT_SHORT, sys.stderr)
                        code = ""
                except KeyboardInterrupt:
                    if not self._interactive:
                        raise
                    print_line("", sys.stdout)
                    code = ""
                except HatboxError as error:
                    print_line(str(error), sys.stderr)
                    if not self._interactive:
                        return True
                    code = ""
        if code:  # what was piped in ends in the middle
            print_line(_CUT_SHORT, sys.stderr)
        return code != "" and not self._interactive

    def _read(self, prompt: str) -> str | None:
        try:
            return input(prompt) if self._interactive else sys.stdin.readline() or None
        except EOFError:
            print_line("", sys.stdout)
            return None

    def _execute(self, code: str) -> bool:
        """Run code, and print what it gives; False if more of it is to come."""
        try:
            value = self._run(self._extension.evaluate(_lasting(code), inspect=not self._as_json))
        except ScriptError as error:
            if _goes_on(error):
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
    def _completion(self) -> Any:
        try:
            import readline
        except ImportError:  # not on every system
            yield
            return
        readline.set_completer_delims(" \t\n()[]{},;=+-*/!&|<>?:'\"`")
        readline.set_completer(_completer(self._extension, self._run))
        readline.parse_and_bind("tab: complete")
        try:
            yield
        finally:
            readline.set_completer(None)


@contextlib.contextmanager
def _loop_of_its_own() -> Iterator[_Run]:
    """An event loop in another thread: what runs there goes on while this one waits for a line."""
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


def _goes_on(error: ScriptError) -> bool:
    """Whether code is no code because more of it is to come."""
    return error.name == "SyntaxError" and error.message in _INCOMPLETE


def _lasting(line: str) -> str:
    """A declaration whose value is awaited as an assignment: what is declared at a prompt stays."""
    return _DECLARED.sub("", line, count=1) if "await" in line else line


def _completer(extension: Extension, run: _Run) -> Callable[[str, int], str | None]:
    """For readline."""
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        nonlocal found
        if state == 0:
            try:
                found = run(completions(extension, text))
            except (HatboxError, TimeoutError):
                found = []
        return found[state] if state < len(found) else None

    return complete


async def completions(extension: Extension, text: str) -> list[str]:
    """The names that a piece of code may go on with: `browser.ta` with `browser.tabs`."""
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
        timeout=_COMPLETION_SECONDS,
    )
    return sorted(lead + name for name in names if name.startswith(start) and name.isidentifier())


def _tell(entry: LogEntry) -> None:
    print_line(log_line(entry), sys.stderr)


class _Everything(Package):
    """An extension without scripts that may do everything."""

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


_EVERYTHING: Final = _Everything(Path("console"))
