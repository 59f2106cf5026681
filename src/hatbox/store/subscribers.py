"""Delivers committed changes to the subscribers of a store, once each and in commit order. Runs no SQL."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from hatbox.store.base import RESYNC, ChangeRecord, ChangeSubscriber

__all__ = ["Subscribers"]

logger = logging.getLogger("hatbox.store")

_LOG_WENT_BACK: Final = ChangeRecord(RESYNC, b"", None)
"""Of a remote log, whose numbers start again. In the log itself, RESYNC has the payload `null`."""


class Subscribers:
    """The subscribers of one store, and the last row of the change log that they received."""

    def __init__(self, label: str) -> None:
        self.last_sequence = 0
        self.label = label
        """The name of the profile in log lines."""
        self._calls_before: dict[ChangeSubscriber, int] = {}

    def __bool__(self) -> bool:
        return bool(self._calls_before)

    def add(self, subscriber: ChangeSubscriber, calls_before: int) -> None:
        """Add a subscriber. It does not receive the changes of the first `calls_before` calls of this process."""
        self._calls_before[subscriber] = calls_before

    def remove(self, subscriber: ChangeSubscriber) -> None:
        """Remove a subscriber."""
        self._calls_before.pop(subscriber, None)

    def deliver_external(self, rows: Iterable[tuple[int, list[ChangeRecord]]]) -> None:
        """Deliver rows of the change log that other processes have committed."""
        for sequence, changes in rows:
            if changes and changes[0] == _LOG_WENT_BACK:
                self.last_sequence = sequence
                self.deliver(changes[0])
                continue
            if sequence <= self.last_sequence:
                continue
            if sequence > self.last_sequence + 1:
                logger.warning(
                    "%s: change log pruned: changes %d to %d lost; reloading",
                    self.label,
                    self.last_sequence + 1,
                    sequence - 1,
                )
                self.deliver(ChangeRecord(RESYNC, b"", None))
            self.last_sequence = sequence
            for change in changes:
                self.deliver(change)

    def deliver(self, change: ChangeRecord) -> None:
        """Call every subscriber that was added before the change."""
        for subscriber, calls_before in list(self._calls_before.items()):
            if change.call_id is None or change.call_id > calls_before:
                try:
                    subscriber(change)
                except Exception:
                    logger.exception("%s: change subscriber failed", self.label)
