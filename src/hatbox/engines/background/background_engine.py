"""An engine in a background process, which continues after the program that started it has exited.

The process is `hatbox browse --json`, and its output goes to the engine log. Knows nothing of tabs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from hatbox import child_processes
from hatbox.engines.background.detached_process import background_environment, detached_options, leave_running
from hatbox.engines.background.engine_log import READY, EngineLog
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineError
from hatbox.identity.model import IdentityLike
from hatbox.store.keys import Key

__all__ = ["BackgroundEngine", "BackgroundEngineError", "json_objects"]

_TERMINATE_TIMEOUT: Final = 4.0  # seconds between SIGTERM and SIGKILL: it has not shown a page yet


class BackgroundEngineError(EngineError):
    """A background engine exited before it was ready. `kind` is the name of the error that it printed."""

    def __init__(
        self, kind: str, message: str, details: Mapping[str, object], log: Path | None = None, page_message: str = ""
    ) -> None:
        super().__init__(message, page_message)
        self.kind = kind
        self.details = details
        """The other members of the error that it printed."""
        self.log = log
        """The log, if the engine printed no error."""


class BackgroundEngine:
    """A background process that runs an engine for a profile. Without a `key` it uses that of the environment.

    With `until_empty` it exits when no tab is open, else when it is stopped or its last window is closed.
    """

    def __init__(
        self,
        address: str,
        log: EngineLog,
        selection: EngineSelection,
        key: Key | None = None,
        *,
        until_empty: bool = True,
    ) -> None:
        self._address = address
        self._key = key
        self._log = log
        self._selection = selection
        self._until_empty = until_empty
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: IO[bytes] | None = None
        self._log_offset = 0
        self._was_ready = False

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not exited."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether the process is running and has reported that it is ready for tabs."""
        if not self._was_ready and self._process is not None:
            expected = {"event": READY, "pid": self._process.pid}
            self._was_ready = any(expected.items() <= each.items() for each in json_objects(self._output()))
        return self._was_ready and self.is_running

    def start(self) -> None:
        """Start the process in a session of its own, which neither Ctrl-C nor the end of the shell stops."""
        self._close_log()
        self._was_ready = False
        descriptor = self._log.open()
        try:
            self._reader = self._log.path.open("rb")  # remains readable after the log was moved
            self._log_offset = os.fstat(descriptor).st_size
            self._process = subprocess.Popen(  # noqa: S603 - runs this Python with constant arguments
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env=background_environment(self._address, self._key),
                **detached_options(),
            )
        finally:
            os.close(descriptor)
        child_processes.add(self._process.pid, f"the start of {self._selection.display_name}")

    def failure(self) -> BackgroundEngineError:
        """The error that the process printed before it exited. Its log is then removed, otherwise archived."""
        output = self._output()
        self._close_log()
        error = next((each["error"] for each in reversed(json_objects(output)) if "error" in each), None)
        if error is not None:
            if self._log_offset == 0:
                self._log.discard()
            page_message = error.pop("pageMessage", "")
            details = {name: value for name, value in error.items() if name not in ("type", "message")}
            return BackgroundEngineError(error["type"], error["message"], details, page_message=page_message)
        last_line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")
        log = self._log.archive() or self._log.path
        message = f"{self._selection.display_name} exited: {last_line}"
        return BackgroundEngineError(EngineError.__name__, message, {"log": str(log)}, log)

    def stop(self) -> None:
        """Stop the process, if it is running."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            try:
                self._process.wait(_TERMINATE_TIMEOUT)
            except subprocess.TimeoutExpired:
                child_processes.kill_tree(self._process.pid)
                self._process.wait()

    def detach(self) -> None:
        """Let the process continue without this one."""
        self._close_log()
        if self._process is not None and self.is_running:
            child_processes.remove(self._process.pid)
            leave_running(self._process)

    def _command(self) -> list[str]:
        selection = self._selection
        options = [
            *("--quiet", "--json"),
            *(["--until-empty"] if self._until_empty else []),
            f"--engine={selection.name}",
            *([f"--browser={selection.browser}"] if selection.browser else []),
            *(["--headless"] if selection.headless else []),
            *([] if selection.indicator else ["--no-indicator"]),
            *(f"--identity={_id_of(each)}" for each in selection.identities or ()),
        ]
        # -P: do not import modules from the current directory.
        return [sys.executable, "-P", "-m", "hatbox", "browse", *options]

    def _output(self) -> str:
        if self._reader is None:
            return ""
        self._reader.seek(self._log_offset)
        return self._reader.read().decode("utf-8", "replace")

    def _close_log(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def json_objects(output: str) -> list[dict[str, Any]]:
    """The JSON objects in the output of a program: on one line each, or on several lines from { to }."""
    found: list[dict[str, Any]] = []
    open_lines: list[str] = []
    for line in output.splitlines():
        if line == "{":
            open_lines = [line]
        elif open_lines:
            open_lines.append(line)
        elif line.startswith("{"):
            found += _decode(line)
        if line == "}":
            found += _decode("\n".join(open_lines))
            open_lines = []
    return found


def _decode(text: str) -> list[dict[str, Any]]:
    try:
        return [msgspec.json.decode(text, type=dict[str, Any])]
    except msgspec.DecodeError:
        return []


def _id_of(identity: IdentityLike) -> str:
    return identity if isinstance(identity, str) else identity.cookie_store_id
