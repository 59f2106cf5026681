"""The command stop: stops the background engines of a profile."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.engines.background.stopping import refusal, stop_process
from hatbox.engines.running_engines import RunningEngine
from hatbox.profile import Profile

__all__ = ["stop"]

_MAX_TIME: Final = 30.0


class _Refused(NamedTuple):
    engine: RunningEngine
    reason: str


def stop(
    force: Annotated[
        bool,
        Option(
            "--force",
            help="Stop also engines that run in a terminal or inside another program, and kill a process that does not "
            "exit in time: its unsaved pages are lost.",
        ),
    ] = False,
    max_time: Annotated[
        float,
        Option("--max-time", "-m", metavar="SECONDS", min=0.0, help="Time to wait for an exit. Default: 30."),
    ] = _MAX_TIME,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop the background engines of the profile. They save the state of their pages; tabs stay in the profile.

    An engine on another machine, or of another user, is not stopped. If one is still running, the exit status is 1.
    """

    async def stop_all(opened: Profile) -> tuple[list[RunningEngine], list[_Refused]]:
        stopped, refused = [], []
        for each in await opened.running_engines():
            reason = "".join(refusal(each, force=force) or ()) or await _stop(each, max_time, force=force)
            if reason:
                refused.append(_Refused(each, reason))
            else:
                stopped.append(each)
        return stopped, refused

    stopped, refused = run_with_profile(profile, stop_all)
    if as_json:
        running = [{**_document(each.engine), "reason": each.reason} for each in refused]
        print_json({"stopped": [_document(each) for each in stopped], "running": running}, sys.stdout)
    else:
        _print(stopped, refused)
    if refused:
        first, *rest = (f"the {_label(each.engine)} is still running: {each.reason}." for each in refused)
        raise CommandError("EngineNotStopped", first, lines=rest)


async def _stop(engine: RunningEngine, max_time: float, *, force: bool) -> str:
    """Stop an engine. Returns why it is still running, or nothing."""
    if engine.process is None:
        return "its process is not known yet. Try again"
    try:
        if await stop_process(engine.process, max_time, kill=force):
            return ""
    except PermissionError:
        return "its process belongs to another user"
    return f"it did not exit within {max_time:g} seconds. Kill it with --force"


def _print(stopped: Sequence[RunningEngine], refused: Sequence[_Refused]) -> None:
    for each in stopped:
        print_line(f"Stopped the {_label(each)}.", sys.stdout)
    if not stopped and not refused:
        print_line("No engine is running.", sys.stderr)


def _label(engine: RunningEngine) -> str:
    return f"{engine.engine} engine ({engine.process})" if engine.process else f"{engine.engine} engine"


def _document(engine: RunningEngine) -> dict[str, object]:
    return {
        "engine": engine.engine,
        "pid": engine.pid,
        "machine": engine.machine or None,
        "background": engine.background,
    }
