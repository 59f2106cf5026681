"""Reports the log of a background engine that did not shut down cleanly."""

from __future__ import annotations

import sys

from hatbox.cli.terminal.output import print_line
from hatbox.engines.running_engines import RunningEngine
from hatbox.profile import Profile

__all__ = ["find_running_engines"]


async def find_running_engines(profile: Profile, *, as_json: bool) -> list[RunningEngine]:
    """The engines that are running for a profile. If none is, archive the log of a killed one, and print its path."""
    running = await profile.running_engines()
    log = None if running else profile.engine_log.archive()
    if log is not None and not as_json:
        print_line(f"The last background engine did not shut down cleanly. Its log is {log}", sys.stderr)
    return running
