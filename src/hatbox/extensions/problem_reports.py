"""Records in the profile what is wrong with an extension of this process, so that other programs can show it."""

from __future__ import annotations

import logging
from typing import Final

from hatbox.extension_data.run_problems import RunProblem, store_problem
from hatbox.extensions.log_ring import shown_text
from hatbox.extensions.runtime import Exit, LogEntry
from hatbox.store.base import Store
from hatbox.tasks import Tasks

__all__ = ["ProblemReports"]

logger = logging.getLogger("hatbox.extensions")

_MAX_CHARACTERS: Final = 300
_REASONS: Final = {
    "crashed: out of memory": "it ran out of memory",
    "unresponsive": "it did not respond",
    "protocol": "it sent invalid data",
}


class ProblemReports:
    """The problem of one extension. Writes only when it changes."""

    def __init__(self, store: Store, area: str) -> None:
        self._store = store
        self._area = area
        self._stored: RunProblem | None = None
        self._tasks = Tasks(_log_error)

    def started(self) -> None:
        """A start has deleted the record."""
        self._stored = None

    async def background_has_run(self, error: LogEntry | None) -> None:
        """The background scripts have run: without an uncaught error, or with this one."""
        await self._set(None if error is None else RunProblem("failed", shown_text(error, _MAX_CHARACTERS)))

    def background_exited(self, ended: Exit, delay: float | None) -> None:
        """The background has ended unexpectedly. Without a delay it is not restarted."""
        self._tasks.spawn(self._set(RunProblem("ended" if delay is None else "restarting", _reason(ended))))

    async def settled(self) -> None:
        """Wait until all is written."""
        await self._tasks.wait()

    async def _set(self, problem: RunProblem | None) -> None:
        if problem != self._stored:
            self._stored = problem
            await self._store.write(lambda transaction: store_problem(transaction, self._area, problem))


def _reason(ended: Exit) -> str:
    known = _REASONS.get(ended.reason)
    if known is not None:
        return known
    last = ended.detail.strip().splitlines()[-1:]
    return ": ".join([ended.reason, *last])[:_MAX_CHARACTERS]


def _log_error(error: BaseException) -> None:
    logger.warning("recording the problem of an extension failed: %s", error)
