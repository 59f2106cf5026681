"""An engine in a background process, which continues after the command that started it has ended.

It is `hatbox browse --json`. Its output goes to a log (see engine_log) that only the user can read. Knows nothing of
tabs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import IO, Any, Final

import msgspec

import hatbox
from hatbox.cli.engine_choice import EngineSelection
from hatbox.cli.engine_log import READY, discard, log_of, open_log, set_aside
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.store.base import Store

__all__ = ["BackgroundEngine"]

_TERMINATE_TIMEOUT: Final = 10.0  # seconds for a process that was told to end


class BackgroundEngine:
    """One process with an engine for a profile."""

    def __init__(self, store: Store, choice: EngineSelection) -> None:
        self.log = log_of(store)
        """The file that it prints to."""
        self._address = store.address
        self._choice = choice
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: IO[bytes] | None = None
        self._beginning = 0
        self._was_ready = False

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether it runs and is ready for tabs."""
        if not self._was_ready and self._process is not None:
            wanted = {"event": READY, "process": self._process.pid}
            self._was_ready = any(wanted.items() <= each.items() for each in _documents(self._printed()))
        return self._was_ready and self.is_running

    def start(self) -> None:
        """Start it, away from this terminal: neither Ctrl-C here nor the end of the shell reaches it."""
        self._close_log()
        self._was_ready = False
        descriptor = open_log(self.log)
        try:
            self._reader = self.log.open("rb")  # stays readable after the log was moved
            self._beginning = os.fstat(descriptor).st_size
            self._process = subprocess.Popen(  # noqa: S603 - nothing but ourselves
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env=_environment(),
                **_detached(),
            )
        finally:
            os.close(descriptor)

    def failure(self) -> CommandError:
        """The error that the engine has printed before it ended. If there is one, its log is removed, else stored."""
        printed = self._printed()
        self._close_log()
        error = next((each["error"] for each in reversed(_documents(printed)) if "error" in each), None)
        if error is not None:
            if self._beginning == 0:
                discard(self.log)
            details = {name: value for name, value in error.items() if name not in ("type", "message")}
            return CommandError(error["type"], error["message"], details=details)
        words = next((line.strip() for line in reversed(printed.splitlines()) if line.strip()), "it said nothing")
        log = str(set_aside(self.log) or self.log)
        message = f"{self._choice.shown_name} has ended: {words}"
        return CommandError("EngineError", message, lines=[f"Its log is {log}"], details={"log": log})

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            try:
                self._process.wait(_TERMINATE_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def detach(self) -> None:
        """Let it go on without us."""
        self._close_log()
        if self._process is not None and self.is_running:
            self._process.returncode = 0  # else Python complains of a process that nobody has waited for

    def _command(self) -> list[str]:
        own = ["--quiet", "--until-empty", "--json", f"--profile={self._address}", *self._choice.arguments()]
        # -P: what lies in the current folder is no part of Hatbox.
        return [sys.executable, "-P", "-m", "hatbox", "browse", *own]

    def _printed(self) -> str:
        if self._reader is None:
            return ""
        self._reader.seek(self._beginning)
        return self._reader.read().decode("utf-8", "replace")

    def _close_log(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _documents(printed: str) -> list[dict[str, Any]]:
    """The JSON objects among what was printed: each in a line of its own, or over several from { to }."""
    found: list[dict[str, Any]] = []
    open_lines: list[str] = []
    for line in printed.splitlines():
        if line == "{":
            open_lines = [line]
        elif open_lines:
            open_lines.append(line)
        elif line.startswith("{"):
            found += _decoded(line)
        if line == "}":
            found += _decoded("\n".join(open_lines))
            open_lines = []
    return found


def _decoded(document: str) -> list[dict[str, Any]]:
    try:
        return [msgspec.json.decode(document, type=dict[str, Any])]
    except msgspec.DecodeError:
        return []


def _detached() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _environment() -> dict[str, str]:
    """This process's own, with this Hatbox on the path also where it is not installed."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONFAULTHANDLER": "1"}
    folder = str(Path(hatbox.__file__).resolve().parents[1])
    if folder not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, environment.get("PYTHONPATH")]))
    return environment
