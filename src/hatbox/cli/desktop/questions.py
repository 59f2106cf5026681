"""Asks the user a question in a dialog of the desktop: zenity, kdialog or xmessage, or in the terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

from hatbox import child_processes
from hatbox.cli.terminal.terminal_text import visible

__all__ = ["ask_user", "notify_user"]

_SECONDS: Final = 300.0
_NOTICE_SECONDS: Final = 10.0
_TITLE: Final = "Hatbox"


def ask_user(question: str, yes: str) -> bool | None:
    """Whether the user says yes. None if there is neither a terminal nor a desktop with a dialog program."""
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        return _ask_in_terminal(question)
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return None
    for name, arguments in _dialogs(question, yes).items():
        if name == "xmessage" and not os.environ.get("DISPLAY"):
            continue
        if program := shutil.which(name):
            return _run(program, arguments)
    return None


def notify_user(message: str) -> None:
    """Show a notification of the desktop, if it has any."""
    program = shutil.which("notify-send")
    if program:
        _run(program, ["--", _TITLE, visible(message)], _NOTICE_SECONDS)


def _dialogs(question: str, yes: str) -> dict[str, list[str]]:
    """The arguments of each dialog program. The default answer is no."""
    return {
        "zenity": [
            *("--question", "--no-markup", "--default-cancel", f"--title={_TITLE}", f"--text={question}"),
            *(f"--ok-label={yes}", "--cancel-label=Cancel"),
        ],
        "kdialog": [
            *("--title", _TITLE, "--warningcontinuecancel", question.replace("<", "‹"), "--continue-label", yes)
        ],
        "xmessage": ["-title", _TITLE, "-center", "-buttons", f"Cancel:1,{yes}:0", "-default", "Cancel", question],
    }


def _run(program: str, arguments: list[str], seconds: float = _SECONDS) -> bool:
    environment = child_processes.foreign_environment()
    try:
        done = subprocess.run(  # noqa: S603 - arguments are a list, and the text is one of them
            [program, *arguments], timeout=seconds, check=False, capture_output=True, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _ask_in_terminal(question: str) -> bool:
    sys.stderr.write(f"{question}\n[y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
