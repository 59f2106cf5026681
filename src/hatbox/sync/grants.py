"""The grants of a synchronous profile."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence

import msgspec

from hatbox.grants.grant import DEFAULT_ACTIONS, Grant
from hatbox.grants.grant_service import Grants
from hatbox.identity.model import IdentityLike
from hatbox.sync.loop_thread import LoopThread

__all__ = ["SyncGrants"]


class SyncGrants:
    """The grants of a profile. Each call returns when its change is durable."""

    def __init__(self, grants: Grants, loop: LoopThread) -> None:
        self._grants = grants
        self._run = loop.run

    def create(
        self,
        purpose: str = "",
        *,
        identities: IdentityLike | Sequence[IdentityLike],
        hosts: Sequence[str] | None = None,
        actions: Iterable[str] = DEFAULT_ACTIONS,
        duration: float | msgspec.UnsetType | None = msgspec.UNSET,
        until: float | None = None,
        for_process: bool = False,
    ) -> tuple[Grant, str]:
        """Create a grant. Returns it with its token, which is stored nowhere. See Grants.create."""
        return self._run(
            lambda: self._grants.create(
                purpose,
                identities=identities,
                hosts=hosts,
                actions=actions,
                duration=duration,
                until=until,
                for_process=for_process,
            )
        )

    def list(self) -> builtins.list[Grant]:
        """All grants, the first created first. Those that have ended are listed for 30 days."""
        return self._run(lambda: self._grants.list())

    def revoke(self, grant_id: str) -> Grant:
        """Revoke a grant. See Grants.revoke."""
        return self._run(lambda: self._grants.revoke(grant_id))

    def verify(self, token: str) -> Grant:
        """The grant of a token, if it is valid now. See Grants.verify."""
        return self._run(lambda: self._grants.verify(token))

    def check(self, grant_id: str) -> Grant:
        """The grant, if this process has verified or created it, and it is valid now. See Grants.check."""
        return self._grants.check(grant_id)
