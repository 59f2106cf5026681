"""Reports the log of a background engine that did not shut down cleanly."""

from __future__ import annotations

import sys

from hatbox.cli.terminal.output import print_line
from hatbox.engines.lease import LeaseHolder
from hatbox.profile import Profile

__all__ = ["find_running_engine"]


async def find_running_engine(profile: Profile, *, as_json: bool) -> LeaseHolder | None:
    """The engine that is running for a profile. If none is, archive the log of a killed one, and print its path."""
    running = await profile.running_engine()
    log = profile.engine_log.archive() if running is None else None
    if log is not None and not as_json:
        print_line(f"The last background engine did not shut down cleanly. Its log is {log}", sys.stderr)
    return running
