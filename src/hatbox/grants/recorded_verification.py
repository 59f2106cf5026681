"""Verifies the token of a new connection, and records in the activity log if its grant has ended."""

from __future__ import annotations

from hatbox.activity_log.activity_service import ActivityLog
from hatbox.errors import GrantExpired, GrantRevoked
from hatbox.grants.grant import Grant
from hatbox.grants.grant_service import Grants

__all__ = ["verify_recorded"]


async def verify_recorded(grants: Grants, activity_log: ActivityLog, token: str) -> Grant:
    """The grant of a token, if it is valid now. A token that belongs to no grant cannot be recorded.

    Raises GrantRefused, as Grants.verify().
    """
    try:
        return await grants.verify(token)
    except (GrantExpired, GrantRevoked) as error:
        activity_log.record(None, "connect", outcome="refused", grant=error.grant_id)
        raise
