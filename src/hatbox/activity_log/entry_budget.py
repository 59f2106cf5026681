"""Limits the entries of one grant in a minute: what exceeds them is counted in summaries, and nothing is dropped. Pure.

A program could otherwise hide one action behind thousands of others, or fill the log until its own entries are deleted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.activity_log.activity_rows import OTHER_HOSTS

__all__ = ["MAX_KEYS", "MAX_SUMMARIES", "OTHERS", "EntryBudget", "Recorded"]

OTHERS: Final = "others"
"""The action of a summary of several actions."""
MAX_KEYS: Final = 100
"""Entries of one grant, or of one identity without a grant, in a minute."""
MAX_SUMMARIES: Final = 30
"""Summaries of one action and outcome, which follow them. After these, one summary for each outcome."""


class Recorded(NamedTuple):
    """What was done, without its time. The same within a minute is one entry."""

    grant: str
    program: str
    machine: str
    store: int | None
    action: str
    host: str
    outcome: str


class EntryBudget:
    """The entries of one minute. `clear` starts the next one."""

    def __init__(self) -> None:
        self._keys: dict[str | int | None, set[Recorded]] = {}
        self._summaries: dict[str | int | None, set[Recorded]] = {}

    def admit(self, recorded: Recorded) -> Recorded:
        """The entry in which something is counted: its own one, or a summary."""
        owner = recorded.grant or recorded.store
        if _has_room(self._keys.setdefault(owner, set()), recorded, MAX_KEYS):
            return recorded
        summary = recorded._replace(host=OTHER_HOSTS)
        if _has_room(self._summaries.setdefault(owner, set()), summary, MAX_SUMMARIES):
            return summary
        return recorded._replace(program="", store=_store(recorded), action=OTHERS, host=OTHER_HOSTS)

    def clear(self) -> None:
        """Start the next minute."""
        self._keys.clear()
        self._summaries.clear()


def _has_room(found: set[Recorded], recorded: Recorded, limit: int) -> bool:
    if recorded in found:
        return True
    if len(found) >= limit:
        return False
    found.add(recorded)
    return True


def _store(recorded: Recorded) -> int | None:
    """A grant may have many identities; without one, the identity is the owner of the entry."""
    return None if recorded.grant else recorded.store
