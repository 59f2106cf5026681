"""The command console: a JavaScript prompt with `browser` in scope."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hatbox import schema
from hatbox.api.match_patterns import ALL_URLS
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.cli.output import print_json_line, print_line
from hatbox.errors import ExtensionError, HatboxError, NoSuchExtension, RuntimeGone, ScriptError
from hatbox.extensions.extension import Extension
from hatbox.extensions.package import MANIFEST, Package
from hatbox.extensions.runtime import LogEntry
from hatbox.profile import Profile

__all__ = ["console"]

_DECLARED: Final = re.compile(r"\s*(?:const|let|var)\s+(?=[\w$]+\s*=(?!=))")
_WORD: Final = re.compile(r"([\w$]+(?:\.[\w$]*)*)$")
_COMPLETION_SECONDS: Final = 2.0
_INCOMPLETE: Final = frozenset(  # what the engine says of code that stops in the middle
    {"Unexpected end of input", "Unterminated template literal", "missing ) after argument list"}
)


def console(
    extension: Annotated[
        str | None,
        typer.Option(
            "--extension",
            metavar="ID|PATH",
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
    failed = asyncio.run(_converse(path, extension, as_json=as_json))
    raise typer.Exit(1 if failed else 0)


async def _converse(path: Path | None, extension: str | None, *, as_json: bool) -> bool:
    async with Profile(path) as opened:
        started = await _started(opened, extension)
        prompt = _Prompt(started, as_json=as_json)
        if sys.stdin.isatty():
            print_line(f"{started.manifest.name}. browser is in scope; Ctrl-D ends.", sys.stdout)
        return await prompt.run()


async def _started(opened: Profile, wanted: str | None) -> Extension:
    if wanted is None:
        return await opened.extensions.start(_EVERYTHING, on_log=_tell)
    installed = {each.id: each.path for each in await opened.extensions.installed()}
    place = installed.get(wanted, wanted)
    if place == wanted and not await asyncio.to_thread(Path(place).exists):
        raise NoSuchExtension(wanted)
    return await opened.extensions.start(place, on_log=_tell)


class _Prompt:
    """Reads, runs, prints, until there is nothing more to read."""

    def __init__(self, extension: Extension, *, as_json: bool) -> None:
        self._extension = extension
        self._as_json = as_json
        self._interactive = sys.stdin.isatty()

    async def run(self) -> bool:
        """Whether it ended because something failed, which ends it only where nobody sits before it."""
        code = ""
        with self._completion():
            while (line := await asyncio.to_thread(self._read, "... " if code else "> ")) is not None:
                ended = self._interactive and not line.strip()
                code += line if line.endswith("\n") else line + "\n"
                if not code.strip():
                    code = ""
                    continue
                try:
                    await self._execute(code)
                except ScriptError as error:
                    if _goes_on(error) and not ended:
                        continue
                    if self._failed(error):
                        return True
                except (RuntimeGone, ExtensionError) as error:
                    if self._failed(error):
                        return True
                code = ""
        if code:  # what was piped in ends in the middle
            print_line("SyntaxError: Unexpected end of input", sys.stderr)
        return code != "" and not self._interactive

    def _read(self, prompt: str) -> str | None:
        try:
            if self._interactive:
                return input(prompt)
            return sys.stdin.readline() or None
        except EOFError:
            print_line("", sys.stdout)
            return None
        except KeyboardInterrupt:
            return ""

    async def _execute(self, code: str) -> None:
        value = await self._extension.evaluate(_lasting(code), inspect=not self._as_json)
        if self._as_json:
            print_json_line(value, sys.stdout)
        else:
            for part in value.splitlines() or [""]:
                print_line(part, sys.stdout)
        sys.stdout.flush()

    def _failed(self, error: HatboxError) -> bool:
        """Tell what went wrong; whether that is the end."""
        print_line(str(error), sys.stderr)
        return not self._interactive

    @contextlib.contextmanager
    def _completion(self) -> Any:
        try:
            import readline
        except ImportError:  # not on every system
            yield
            return
        readline.set_completer_delims(" \t\n()[]{},;=+-*/!&|<>?:'\"`")
        readline.set_completer(_completer(self._extension, asyncio.get_running_loop()))
        readline.parse_and_bind("tab: complete")
        try:
            yield
        finally:
            readline.set_completer(None)


def _goes_on(error: ScriptError) -> bool:
    """Whether code is no code because more of it is to come."""
    return error.name == "SyntaxError" and error.message in _INCOMPLETE


def _lasting(line: str) -> str:
    """A declaration whose value is awaited as an assignment: what is declared at a prompt stays."""
    return _DECLARED.sub("", line, count=1) if "await" in line else line


def _completer(extension: Extension, loop: asyncio.AbstractEventLoop) -> Callable[[str, int], str | None]:
    """For readline, which calls it in the thread that reads."""
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        nonlocal found
        if state == 0:
            future = asyncio.run_coroutine_threadsafe(completions(extension, text), loop)
            try:
                found = future.result(_COMPLETION_SECONDS)
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
        within=_COMPLETION_SECONDS,
    )
    return sorted(lead + name for name in names if name.startswith(start) and name.isidentifier())


def _tell(entry: LogEntry) -> None:
    print_line(str(entry), sys.stderr)


class _Everything(Package):
    """An extension without scripts that may do everything."""

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
