"""Background engines in tests: none outlives its test."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
from pathlib import Path
from typing import NamedTuple

from hatbox.errors import EngineError
from hatbox.store.sqlite.file_lease import FileLease
from tests.waiting import block_until


def has_chromium() -> bool:
    """Whether the Chromium engine can be started here."""
    if importlib.util.find_spec("playwright") is None:
        return False
    from hatbox.engines.chromium.launch import find_browser

    try:
        find_browser()
    except EngineError:
        return False
    return True


class RunningEngine(NamedTuple):
    engine: str
    process: int


def holder(profile: Path) -> RunningEngine | None:
    """Which engine has the tabs of a profile now."""
    found = FileLease(profile.with_name(f"{profile.name}-engine")).read_holder()
    return RunningEngine(found.purpose, found.pid) if found and found.pid else None


def end(profile: Path, number: int = signal.SIGTERM) -> None:
    """Stop the engine of a profile, if one is running, and wait until its process has exited."""
    found = holder(profile)
    if found is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(found.process, number)
        wait_for_exit(found.process, profile)


def wait_for_exit(process: int, profile: Path) -> None:
    """Wait until a process has exited by itself."""
    block_until(lambda: not _is_alive(process), f"exit of process {process}")
    assert holder(profile) is None


def _is_alive(process: int) -> bool:
    with contextlib.suppress(ChildProcessError):  # a child process has to be reaped
        return os.waitpid(process, os.WNOHANG)[0] == 0
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return _state(process) != "Z"


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
