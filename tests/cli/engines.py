"""Engines in the background, for tests of the command line: none outlives its test."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hatbox.errors import EngineError
from hatbox.store.sqlite.file_lease import FileLease

PATIENCE = 30.0


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


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE:g} seconds"
        time.sleep(0.02)


class RunningEngine(NamedTuple):
    engine: str
    process: int


def holder(profile: Path) -> RunningEngine | None:
    """Which engine has the tabs of a profile now."""
    found = FileLease(profile.with_name(f"{profile.name}-engine")).read_holder()
    return RunningEngine(found.purpose, found.pid) if found and found.pid else None


def end(profile: Path, number: int = signal.SIGTERM) -> None:
    """End the engine of a profile, if there is one, and wait until it is gone."""
    found = holder(profile)
    if found is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(found.process, number)
        gone(found.process, profile)


def gone(process: int, profile: Path) -> None:
    """Wait until a process has ended by itself."""
    until(lambda: not _is_there(process), f"the end of process {process}")
    assert holder(profile) is None


def _is_there(process: int) -> bool:
    with contextlib.suppress(ChildProcessError):  # one that this process has started has to be waited for
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
