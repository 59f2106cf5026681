"""How an entry of the activity log is said, on the command line and on the manager page. Pure."""

from __future__ import annotations

from hatbox.activity_log.activity_rows import OTHER_HOSTS
from hatbox.activity_log.entry_budget import OTHERS

__all__ = ["action_text"]


def action_text(action: str, host: str, times: int) -> str:
    """The action, and how often; for a summary, how many entries it replaces."""
    if host == OTHER_HOSTS:
        return f"and {times:,} more" if action == OTHERS else f"{action}, {times:,} more"
    return action if times == 1 else f"{action} ({times:,} times)"
