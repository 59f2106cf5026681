"""Error messages for a browser that does not start, parsed from Playwright's launch errors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["display_hint", "why_not_executable", "why_not_started"]

_MAX_OUTPUT_LINES: Final = 5
_MAX_LINE_LENGTH: Final = 500
_OUTPUT: Final = re.compile(r"^(?:  - )?\[pid=\d+\]\[(err|out)\] (.*)$")
_EXIT: Final = re.compile(r"<process did exit: exitCode=(\w+), signal=(\w+)>")
_CLOSED: Final = "Target page, context or browser has been closed"


def why_not_executable(name: str | os.PathLike[str]) -> str:
    """Why a program with this name or path cannot be executed."""
    path = Path(name)
    if path.name == os.fspath(name):
        return f"{name} was not found on the PATH"
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return f"{name} does not exist"
    except OSError as error:
        return f"{name} cannot be read: {error.strerror}"
    return f"{name} is a folder" if path.is_dir() else f"{name} is not executable"


def why_not_started(error: str, limit: float) -> str:
    """The cause from Playwright's error, with the last lines of the program's output."""
    head, _, rest = error.strip().partition("\n")
    why = head.removeprefix("BrowserType.launch: ")
    if why.startswith("Timeout "):
        why = f"did not start within {limit:g} seconds. Is it a Chromium?"
    elif why == _CLOSED:
        why = f"does not start: {_exit_reason(rest)}."
    else:
        why = f"does not start: {why}"
    lines = _output(rest)
    return f"{why} Its last output: {' | '.join(lines)}" if lines else why  # one line, like every message


def display_hint(environment: Mapping[str, str]) -> str:
    """Which display a browser with windows should use: a stored one may not exist any more. Empty without one."""
    used = [f"{name}={environment[name]}" for name in ("DISPLAY", "WAYLAND_DISPLAY") if environment.get(name)]
    return f" Does its display exist? {', '.join(used)}" if used else ""


def _exit_reason(log: str) -> str:
    found = _EXIT.search(log)
    if found is None:
        return "it ended at once"
    code, signal = found.groups()
    return f"it ended with exit code {code}" if signal == "null" else f"it was ended by {signal}"


def _output(log: str) -> list[str]:
    """The last lines of standard error, or of standard output if standard error is empty."""
    log = log.partition("Call log:")[0] if "Browser logs:" in log else log  # the call log repeats these lines
    found = [each.groups() for each in map(_OUTPUT.match, log.splitlines()) if each]
    lines = [line for stream, line in found if stream == "err"] or [line for _, line in found]
    return [_printable(line[:_MAX_LINE_LENGTH]) for line in lines if line.strip()][-_MAX_OUTPUT_LINES:]


def _printable(line: str) -> str:
    """The line without control characters."""
    return "".join(each if each.isprintable() else "\ufffd" for each in line)
