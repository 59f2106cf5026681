"""Where in a user's script something went wrong, and in which words that is told. Executes nothing."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import hatbox
from hatbox.cli.terminal.command_errors import CommandError

__all__ = ["is_hatbox", "is_own", "script_error", "syntax_failure"]


class _SourceLocation(NamedTuple):
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + ("" if self.function == "<module>" else f" in {self.function}")


def script_error(error: BaseException, script: Path, what: str = "") -> CommandError:
    """An error of a script: its innermost line that the author wrote, then the way there."""
    places = _places(error)
    where = f"{places[0].file}, line {places[0].line}" if places else str(script)
    told, *more = _message_lines(error)
    more += (f"    {advice}" for advice in _advice(error))
    return CommandError(
        type(error).__name__,
        ": ".join(part for part in (where, what, told) if part),
        lines=[*more, *(f"    at {place}" for place in (places if len(places) > 1 else ()))],
        details={
            "file": places[0].file if places else str(script),
            "line": places[0].line if places else None,
            "frames": [place._asdict() for place in places],
        },
    )


def _advice(error: BaseException) -> Iterator[str]:
    """What to do about an error that has to do with `hatbox run` itself."""
    if isinstance(error, RuntimeError) and str(error).startswith("asyncio.run() cannot be called"):
        yield "`hatbox run` has started the event loop: await at the top level, or use python to run the script."
    if isinstance(error, NameError) and error.name == "profile":
        yield "`profile` is in scope only without --permission, and only in the script itself."


def syntax_failure(error: SyntaxError, script: Path) -> CommandError:
    """What Python could not read, with the line and a caret under the spot."""
    file, line = error.filename or str(script), error.lineno
    where = f"{file}, line {line}" if line else file
    lines = []
    if error.text and error.text.strip():
        text = error.text.rstrip("\n")
        spot = max((error.offset or 1) - 1 - (len(text) - len(text.lstrip())), 0)
        lines = [f"    {text.lstrip()}", f"    {' ' * spot}^"]
    return CommandError(
        type(error).__name__,
        f"{where}: {type(error).__name__}: {error.msg}",
        lines=lines,
        details={"file": file, "line": line or None, "frames": []},
    )


def is_own(file: str) -> bool:
    """Whether a file is the user's: neither Hatbox's nor part of Python."""
    return not file.startswith("<") and not is_hatbox(file) and not _is_pythons(file)


@cache
def is_hatbox(file: str) -> bool:
    """Whether a file is part of Hatbox."""
    return Path(file).is_relative_to(Path(hatbox.__file__).parent)


@cache
def _is_pythons(file: str) -> bool:
    paths = sysconfig.get_paths()
    return any(Path(file).is_relative_to(paths[key]) for key in ("stdlib", "platstdlib")) and not any(
        Path(file).is_relative_to(paths[key]) for key in ("purelib", "platlib")
    )


def _places(error: BaseException) -> list[_SourceLocation]:
    """The user's own lines that led to an error, innermost first."""
    places = [
        _SourceLocation(_short(frame.f_code.co_filename), line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code.co_filename)
    ]
    return places[::-1]


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else file


def _message_lines(error: BaseException) -> Iterator[str]:
    """The error in one line or more: its message, its notes, and the errors inside it or behind it."""
    first, *rest = f"{type(error).__name__}: {error}".rstrip(": ").splitlines() or [type(error).__name__]
    yield first
    for line in (*rest, *getattr(error, "__notes__", ())):
        yield f"    {line}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _nested("    - ", inner)
    if error.__cause__ is not None:
        yield from _nested("    because of ", error.__cause__)


def _nested(mark: str, error: BaseException) -> Iterator[str]:
    places = _places(error)
    first, *rest = _message_lines(error)
    yield mark + (f"{places[0].file}, line {places[0].line}: " if places else "") + first
    for line in rest:
        yield f"    {line}"
