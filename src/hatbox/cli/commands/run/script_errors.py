"""Errors of a user's script: the lines of the script that led to an error, and its message. Executes nothing."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import hatbox
from hatbox.cli.terminal.command_errors import CommandError

__all__ = ["is_hatbox", "is_own", "script_error", "syntax_error"]


class _SourceLocation(NamedTuple):
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + ("" if self.function == "<module>" else f" in {self.function}")


def script_error(error: BaseException, script: Path, what: str = "") -> CommandError:
    """The error with the innermost line of the script, then what to do about it, then the lines that led there."""
    locations = _locations(error)
    where = f"{locations[0].file}, line {locations[0].line}" if locations else str(script)
    message, *more = _message_lines(error)
    more += (f"    {hint}" for hint in _hints(error))
    return CommandError(
        type(error).__name__,
        ": ".join(part for part in (where, what, message) if part),
        lines=[*more, *(f"    at {each}" for each in (locations if len(locations) > 1 else ()))],
        details={
            "file": locations[0].file if locations else str(script),
            "line": locations[0].line if locations else None,
            "frames": [each._asdict() for each in locations],
        },
    )


def _hints(error: BaseException) -> Iterator[str]:
    """What to do about an error that `hatbox run` itself causes."""
    if isinstance(error, RuntimeError) and str(error).startswith("asyncio.run() cannot be called"):
        yield "`hatbox run` has started an event loop. Use await at the top level, or run the script with python."
    if isinstance(error, NameError) and error.name == "profile":
        yield "`profile` is in scope only without --permission and --grant, and only in the script itself."


def syntax_error(error: SyntaxError, script: Path) -> CommandError:
    """A syntax error, with the line and a caret under the column."""
    file, line = error.filename or str(script), error.lineno
    where = f"{file}, line {line}" if line else file
    lines = []
    if error.text and error.text.strip():
        text = error.text.rstrip("\n")
        column = max((error.offset or 1) - 1 - (len(text) - len(text.lstrip())), 0)
        lines = [f"    {text.lstrip()}", f"    {' ' * column}^"]
    return CommandError(
        type(error).__name__,
        f"{where}: {type(error).__name__}: {error.msg}",
        lines=lines,
        details={"file": file, "line": line or None, "frames": []},
    )


def is_own(file: str) -> bool:
    """Whether a file is the user's: not part of Hatbox or of Python."""
    return not file.startswith("<") and not is_hatbox(file) and not _is_standard_library(file)


@cache
def is_hatbox(file: str) -> bool:
    """Whether a file is part of Hatbox."""
    return Path(file).is_relative_to(Path(hatbox.__file__).parent)


@cache
def _is_standard_library(file: str) -> bool:
    paths = sysconfig.get_paths()
    return any(Path(file).is_relative_to(paths[key]) for key in ("stdlib", "platstdlib")) and not any(
        Path(file).is_relative_to(paths[key]) for key in ("purelib", "platlib")
    )


def _locations(error: BaseException) -> list[_SourceLocation]:
    """The user's own lines that led to an error, innermost first."""
    locations = [
        _SourceLocation(_relative(frame.f_code.co_filename), line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code.co_filename)
    ]
    return locations[::-1]


def _relative(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else file


def _message_lines(error: BaseException) -> Iterator[str]:
    """The message, the notes, and the errors of a group or the cause."""
    first, *rest = f"{type(error).__name__}: {error}".rstrip(": ").splitlines() or [type(error).__name__]
    yield first
    for line in (*rest, *getattr(error, "__notes__", ())):
        yield f"    {line}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _nested("    - ", inner)
    if error.__cause__ is not None:
        yield from _nested("    caused by ", error.__cause__)


def _nested(prefix: str, error: BaseException) -> Iterator[str]:
    locations = _locations(error)
    first, *rest = _message_lines(error)
    yield prefix + (f"{locations[0].file}, line {locations[0].line}: " if locations else "") + first
    for line in rest:
        yield f"    {line}"
