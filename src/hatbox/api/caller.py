"""Who calls the API, and what it may do. Knows no namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hatbox.api.grants import ExtensionPermissions
from hatbox.api.match_patterns import HostPermissions, host_permissions
from hatbox.schema import Surface

__all__ = ["Caller", "ExtensionCaller"]


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

    def may_use(self, surface: Surface) -> bool:
        """Whether it holds what a surface needs."""
        return surface.permissions <= self.permissions and not surface.for_extensions


class ExtensionCaller(Caller):
    """An extension that calls. `permissions` are those that it holds now, and change when it is given others."""

    def __init__(self, extension_id: str, uuid: str, manifest: Mapping[str, Any], grants: ExtensionPermissions) -> None:
        super().__init__(extension_id)
        self.permissions = grants.held
        self.uuid = uuid
        """The host of its moz-extension:// URLs."""
        self.manifest = manifest
        """What runtime.getManifest() returns."""
        self.grants = grants
        """What it has been given, and may ask for."""

    def may_use(self, surface: Surface) -> bool:
        """Whether it holds what a surface needs."""
        return surface.permissions <= self.permissions
