"""Starts installed extensions, each in a background process, and stops extensions wherever they run.

The process is `hatbox run --json`. It continues after this program has exited.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from hatbox.engines.background.detached_process import background_environment, detached_options, leave_running
from hatbox.engines.background.engine_log import log_folder
from hatbox.errors import ApiError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.run_records import RunRecord
from hatbox.store.base import Store, Transaction
from hatbox.store.recorded_calls import unrecorded

__all__ = ["BackgroundRuns"]

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.05
_MAX_ERROR: Final = 1_000  # characters


class BackgroundRuns:
    """The runs of extensions. `address` opens the profile."""

    def __init__(self, store: Store, address: str) -> None:
        self._store = store
        self._address = address
        self._starting: dict[str, asyncio.Task[None]] = {}

    async def start(self, area: str) -> None:
        """Start an extension, and wait until it is running. One that is running stays as it is. Raises ApiError."""
        task = self._starting.get(area)
        if task is None:
            task = self._starting[area] = asyncio.ensure_future(self._start(area))
            task.add_done_callback(lambda _: self._starting.pop(area, None))
        await asyncio.shield(task)

    async def stop(self, area: str) -> None:
        """Stop an extension in whichever process runs it, and wait until it has ended. Raises ApiError."""
        with unrecorded():  # the extension has not ended yet
            requested = self._store.write(lambda transaction: run_records.request_stop(transaction, area))
        run = await requested
        if run is None:
            return
        deadline = asyncio.get_running_loop().time() + _STOP_SECONDS
        while (left := await self._run_of(area)) is not None and left.process_id == run.process_id:
            if asyncio.get_running_loop().time() > deadline:
                raise ApiError(
                    f"{run.name} is still running after {_STOP_SECONDS:g} seconds. It runs on {run.process_id.machine} "
                    f"(pid {run.process}): stop that program there."
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def _start(self, area: str) -> None:
        name = await self._store.read(lambda transaction: _enable(transaction, area, change=False))
        if await self._run_of(area) is not None:
            return
        with unrecorded():  # the extension is not started yet
            enabled = self._store.write(lambda transaction: _enable(transaction, area, change=True))
        await enabled
        log = self._log_of(area)
        process = await asyncio.to_thread(self._spawn, area, log)
        deadline = asyncio.get_running_loop().time() + _START_SECONDS
        while await self._run_of(area) is None:
            if process.poll() is not None:
                error = await asyncio.to_thread(_error_in, log)
                raise ApiError(f"{name} could not be started: {error}")
            if asyncio.get_running_loop().time() > deadline:
                process.terminate()
                raise ApiError(f"{name} did not start within {_START_SECONDS:g} seconds. Its output: {log}")
            await asyncio.sleep(_POLL_SECONDS)
        leave_running(process)

    def _spawn(self, area: str, log: Path) -> subprocess.Popen[bytes]:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603 - runs this Python; the area is one argument
                [sys.executable, "-P", "-m", "hatbox", "run", "--json", "--", area],
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env=background_environment(self._address, self._store.key),
                **detached_options(),
            )
        finally:
            os.close(descriptor)

    def _log_of(self, area: str) -> Path:
        """The file for the output of an extension: replaced at each start, and without lines of its console."""
        name = re.sub(r"[^\w.-]+", "_", f"{self._store.label}-{area}")[-150:]
        return log_folder() / f"{name}-run.log"

    async def _run_of(self, area: str) -> RunRecord | None:
        return await self._store.read(lambda transaction: run_records.get(transaction, area))


def _enable(transaction: Transaction, area: str, *, change: bool) -> str:
    """Enable an extension that is to be started. Returns its name."""
    known = installed.get(transaction, area)
    if known is None or not known.permanent:
        raise ExtensionNotFound(area)
    if change:
        installed.set_enabled(transaction, area, True)
    return known.name


def _error_in(log: Path) -> str:
    """The error that the process has printed."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        return str(error)
    text = "\n".join(lines)
    start = text.rfind('{\n  "error"')
    for candidate in (text[start:] if start >= 0 else "", *reversed(lines)):
        try:
            found = msgspec.json.decode(candidate)
        except msgspec.DecodeError:
            continue
        if isinstance(found, dict) and isinstance(found.get("error"), dict):
            printed = found["error"]
            return str(printed.get("pageMessage") or printed.get("message"))[:_MAX_ERROR]
        if isinstance(found, dict) and "message" in found:
            return str(found["message"])[:_MAX_ERROR]
    return (lines[-1] if lines else "it ended without a message")[:_MAX_ERROR]
