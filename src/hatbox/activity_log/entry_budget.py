"""Limits the entries of one grant in a minute: what exceeds them is counted in summaries, and nothing is dropped. Pure.

A program could otherwise hide one action behind thousands of others, or fill the log until its own entries are deleted.
What was refused or has failed, which costs a program nothing, does not take the place of what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from hatbox.activity_log.activity_rows import OTHER_HOSTS

__all__ = ["MAX_KEYS", "MAX_SUMMARIES", "OTHERS", "EntryBudget", "Recorded"]

OTHERS: Final = "others"
"""The action of a summary of several actions."""
MAX_KEYS: Final = 100
"""Entries of one grant, or of one identity without a grant, in a minute: of what was done, refused, and has failed."""
MAX_SUMMARIES: Final = 30
"""Summaries of one action and outcome, which follow them. After these, one summary for each outcome. A host that the
grant names has a summary of its own."""

_NOT_DONE: Final = ("refused", "failed")


class Recorded(NamedTuple):
    """What was done, without its time. The same within a minute is one entry."""

    grant: str
    program: str
    machine: str
    store: int | None
    action: str
    host: str
    outcome: str


_Owner: TypeAlias = tuple[str | int | None, str]
"""A grant, or an identity without one; and what was not done."""


class EntryBudget:
    """The entries of one minute. `clear` starts the next one.

    `pattern_of` returns the pattern with which a grant names a host, as in `*.site.example`; empty if it does not.
    """

    def __init__(self, pattern_of: Callable[[str, str], str] = lambda _, __: "") -> None:
        self._pattern_of = pattern_of
        self._keys: dict[_Owner, set[Recorded]] = {}
        self._summaries: dict[_Owner, set[Recorded]] = {}

    def admit(self, recorded: Recorded) -> Recorded:
        """The entry in which something is counted: its own one, or a summary."""
        owner = recorded.grant or recorded.store, recorded.outcome if recorded.outcome in _NOT_DONE else ""
        if _has_room(self._keys.setdefault(owner, set()), recorded, MAX_KEYS):
            return recorded
        if recorded.host and (pattern := self._pattern_of(recorded.grant, recorded.host)):
            return recorded._replace(program="", host=pattern)
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
