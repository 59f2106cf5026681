"""Runs a script with explicit permissions: starts its process, and serves its `browser` until it ends."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hatbox import schema
from hatbox.cli.arguments.profile_creation import may_create
from hatbox.cli.commands.run.permitted.interrupts import passing_interrupts
from hatbox.cli.commands.run.permitted.leftover_processes import adopt_orphans
from hatbox.cli.commands.run.permitted.script_process import ScriptProcess, StartedScript
from hatbox.cli.commands.run.permitted.script_sandbox import (
    hidden_files,
    script_environment,
    script_layers,
    script_wall,
)
from hatbox.cli.commands.run.script_execution import compile_script, read_script
from hatbox.cli.program_end import ENDING_SIGNALS, ProgramEnd, on_signal
from hatbox.cli.terminal.command_errors import FAILED, INTERRUPTED, CommandError, Interrupted
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.errors import GrantRefused
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.hidden_paths import HiddenPaths
from hatbox.extensions.runtime.wire_frames import encode_frame
from hatbox.profile import Profile
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.api.browser import Browser
    from hatbox.api.caller import Caller

__all__ = ["OpenBrowser", "execute_permitted"]

OpenBrowser: TypeAlias = "Callable[[Profile], Awaitable[Browser]]"
"""The `browser` of the script, in the open profile."""

_RESERVE_BYTES: Final = 1 << 10
_CLEANUP_SECONDS: Final = 5.0  # for a script whose grant has ended, or that a signal ends


def execute_permitted(
    script: Path,
    arguments: Sequence[str],
    open_browser: OpenBrowser,
    profile: str | None,
    *,
    as_json: bool,
    require_sandbox: bool,
) -> int:
    """Run a script with this `browser` in a process of its own; returns the exit status that it sets."""
    if sys.platform == "win32":
        raise CommandError(
            "NotSupported", "--permission and --grant need Linux or macOS: the script runs in a process of its own."
        )
    source = read_script(script)
    compile_script(source, script)  # a syntax error neither creates a profile nor starts a process
    opened = Profile(profile, create=may_create(profile))
    with log_to_stderr(as_json=as_json):
        layers = script_layers(require_sandbox=require_sandbox)
        working = (Path.cwd(), script.resolve().parent)
        hidden = hidden_files(opened, *working) if layers.landlock else HiddenPaths()
        with _temporary_folder(hidden) as temporary, _adopting_orphans():
            wall = script_wall(hidden, *map(str, working))
            started = StartedScript(wall, layers, {**script_environment(opened), **temporary})
            boot = {
                "script": str(script),
                "source": base64.b64encode(source).decode("ascii"),
                "arguments": [*arguments],
                "json": as_json,
                "foldersAbove": sorted(hidden.folders_above),
            }
            with passing_interrupts(started.process):
                return asyncio.run(_Run(script, open_browser, opened, boot, as_json=as_json).serve(started))


class _Run:
    """One run of a script, and its end."""

    def __init__(
        self, script: Path, open_browser: OpenBrowser, profile: Profile, boot: dict[str, Any], *, as_json: bool
    ) -> None:
        self._script = script
        self._open_browser = open_browser
        self._profile = profile
        self._boot = boot
        self._limits = RuntimeLimits()
        self._has_started = False
        self._refusal: GrantRefused | None = None
        """Why its grant has ended before the script."""
        self._as_json = as_json
        self._tasks = Tasks()

    async def serve(self, started: StartedScript) -> int:
        """Open the profile, and serve the calls of the script until it ends, or until a signal ends it."""
        try:
            connection = await ScriptProcess.connect(started, self._limits)
        except BaseException:
            started.kill()
            raise
        end = ProgramEnd(as_json=self._as_json)
        end.save_with(self._profile.save)

        def stop(number: int) -> None:
            end.signal = number
            self._tasks.spawn(self._interrupt(connection, number))

        with on_signal(ENDING_SIGNALS, stop, end):
            status = await self._serve_until_end(started, connection)
        if end.signal and (status is None or status < 0):
            raise Interrupted(end.signal)
        return self._status(await connection.exited, status)

    async def _serve_until_end(self, started: StartedScript, connection: ScriptProcess) -> int | None:
        serving = asyncio.ensure_future(self._serve(connection))
        try:
            first: list[asyncio.Future[Any]] = [serving, connection.exited]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not self._has_started:  # Ctrl-C while the profile is opened, or an error
                serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        finally:
            await connection.stop()
            started.kill()
        await connection.exited
        return connection.status

    async def _interrupt(self, connection: ScriptProcess, number: int = signal.SIGINT) -> None:
        """Interrupt the script, and kill it if it goes on."""
        connection.interrupt(number)
        await asyncio.wait([connection.exited], timeout=_CLEANUP_SECONDS)
        await connection.stop()

    async def _serve(self, connection: ScriptProcess) -> None:
        # Lazy: the process of the script starts meanwhile.
        from hatbox.api.browser import dispatcher_and_caller
        from hatbox.cli.commands.run.permitted.script_bridge import ScriptBridge

        async with self._profile:
            dispatcher, caller = dispatcher_and_caller(await self._open_browser(self._profile))
            self._has_started = True
            bridge = ScriptBridge(dispatcher, caller, connection, self._limits)
            boot = {
                **self._boot,
                "caller": caller.id,
                "permissions": sorted(caller.permissions),
                "schemas": [each.file for each in schema.load() if caller.may_use(each)],
                "maxBytes": self._limits.frame - _RESERVE_BYTES,
            }
            connection.send(encode_frame([[protocol.BOOT, boot]]))
            connection.set_reading(True)
            await self._ended(connection, caller)
            del bridge

    async def _ended(self, connection: ScriptProcess, caller: Caller) -> None:
        """Wait until the script ends. If its grant ends first, interrupt it, and kill it if it goes on."""
        from hatbox.api.grant_caller import GrantCaller

        if not isinstance(caller, GrantCaller):
            await connection.exited
            return
        grants = self._profile.grants
        grant_ended = grants.ended(caller.grant_id)
        first: list[asyncio.Future[Any]] = [grant_ended, connection.exited]
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        finally:
            grant_ended.cancel()
        if connection.exited.done():
            return
        try:
            grants.check(caller.grant_id)
        except GrantRefused as error:
            self._refusal = error
        await self._interrupt(connection)

    def _status(self, ended: Exit, status: int | None) -> int:
        if self._refusal is not None:
            raise CommandError(type(self._refusal).__name__, f"{self._script} was ended: {self._refusal}")
        if ended.reason in ("protocol", "unresponsive"):
            raise CommandError(
                "ScriptEnded", f"{self._script} was ended, because it misused its browser: {ended.detail}"
            )
        if status is None or status >= 0:
            return FAILED if status is None else status
        if -status == signal.SIGINT:
            return INTERRUPTED
        raise CommandError("ScriptEnded", f"{self._script} was ended by {signal.Signals(-status).name}")


@contextmanager
def _temporary_folder(hidden: HiddenPaths) -> Iterator[dict[str, str]]:
    """A folder for temporary files, if the usual one contains the profile. As an environment variable."""
    if os.path.realpath(tempfile.gettempdir()) not in hidden.folders_above:
        yield {}
        return
    folder = tempfile.mkdtemp(prefix="hatbox-script-")
    try:
        yield {"TMPDIR": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    adopt_orphans(True)
    try:
        yield
    finally:
        adopt_orphans(False)
