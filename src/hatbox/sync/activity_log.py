"""The activity log of a synchronous profile."""

from __future__ import annotations

from hatbox.activity_log.activity_service import ActivityLog, RecordedAction
from hatbox.identity.model import IdentityLike
from hatbox.sync.loop_thread import LoopThread

__all__ = ["SyncActivityLog"]


class SyncActivityLog:
    """What programs did with identities: for grants always, and for identities whose setting is on."""

    def __init__(self, activity_log: ActivityLog, loop: LoopThread) -> None:
        self._activity_log = activity_log
        self._run = loop.run

    def record(
        self,
        identity: str | None,
        action: str,
        *,
        host: str = "",
        outcome: str = "ok",
        grant: str = "",
        program: str | None = None,
    ) -> None:
        """Record an action. It is written within a second. See ActivityLog.record."""

        async def record() -> None:
            self._activity_log.record(identity, action, host=host, outcome=outcome, grant=grant, program=program)

        self._run(record)

    def query(
        self,
        *,
        identity: IdentityLike | None = None,
        grant: str | None = None,
        since: float | None = None,
        limit: int = 1000,
    ) -> list[RecordedAction]:
        """The latest entries, the newest first. See ActivityLog.query."""
        return self._run(lambda: self._activity_log.query(identity=identity, grant=grant, since=since, limit=limit))

    def set_recorded(self, identity: IdentityLike, recorded: bool) -> None:
        """Switch the recording of an identity on or off."""
        self._run(lambda: self._activity_log.set_recorded(identity, recorded))

    def is_recorded(self, identity: IdentityLike) -> bool:
        """Whether everything that programs do with an identity is recorded."""
        return self._run(lambda: self._activity_log.is_recorded(identity))
