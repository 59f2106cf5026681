"""Who calls the API, and what it may do. Knows no namespace."""

from __future__ import annotations

from collections.abc import Iterable

from hatbox.api.match_patterns import HostPermissions, host_permissions

__all__ = ["Caller"]


class Caller:
    """Who calls: an id, and the permissions that it holds. They may be granted and revoked while it lives.

    A permission is the name of one, or a match pattern: the permission for the hosts that it matches.
    """

    def __init__(self, caller_id: str, permissions: Iterable[str] = ()) -> None:
        self.id = caller_id
        self.permissions = set(permissions)

    @property
    def hosts(self) -> HostPermissions:
        """The hosts that it has permission for, now."""
        return host_permissions(frozenset(self.permissions))
