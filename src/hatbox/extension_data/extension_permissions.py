"""Permissions of an extension: required, optional and granted, with the rules of `browser.permissions`.

Error messages match Firefox. Stores nothing, and does not prompt the user.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hatbox.errors import UndeclaredPermission
from hatbox.extension_data.permission_names import ALONE
from hatbox.urls.match_patterns import ALL_URLS, MatchPattern, parse_match_pattern

__all__ = ["NONE", "ExtensionPermissions", "Permissions", "host_pattern", "is_host_pattern", "subsumes"]

_INTERNAL = "internal:"


class Permissions(msgspec.Struct, frozen=True):
    """permissions.Permissions: names, match patterns of hosts, and data collection types."""

    permissions: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    data_collection: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.permissions or self.origins or self.data_collection)

    def __or__(self, other: Permissions) -> Permissions:
        """The union, in order, without duplicates."""
        return Permissions(
            _unique([*self.permissions, *other.permissions]),
            _unique([*self.origins, *other.origins]),
            _unique([*self.data_collection, *other.data_collection]),
        )

    def __sub__(self, other: Permissions) -> Permissions:
        """The difference. Origins are compared as text."""
        return Permissions(
            _without(self.permissions, other.permissions),
            _without(self.origins, other.origins),
            _without(self.data_collection, other.data_collection),
        )

    def covered_by(self, declared: Permissions) -> Permissions:
        """Only declared names, covered origins and declared data types. Internal permissions stay."""
        return Permissions(
            tuple(name for name in self.permissions if name in declared.permissions or name.startswith(_INTERNAL)),
            tuple(origin for origin in self.origins if subsumes(declared.origins, origin)),
            tuple(kind for kind in self.data_collection if kind in declared.data_collection),
        )

    def visible(self) -> Permissions:
        """Without internal permissions such as `internal:privateBrowsingAllowed`, which scripts never see."""
        names = tuple(name for name in self.permissions if not name.startswith(_INTERNAL))
        return Permissions(names, self.origins, self.data_collection)


NONE = Permissions()


class ExtensionPermissions:
    """The current permissions of one extension. Changes update `effective`, the set of its Caller, in place.

    `granted` is the part that the profile stores. The extension may request `optional` permissions. With manifest
    version 3, the hosts of the manifest are optional too.
    """

    def __init__(
        self,
        required: Permissions,
        optional: Permissions,
        granted: Permissions = NONE,
        effective: set[str] | None = None,
    ) -> None:
        self.required = required
        self.optional = optional
        self.granted = granted
        self.effective = set() if effective is None else effective
        self.effective |= self._names_and_patterns()

    def get_all(self) -> Permissions:
        """The result of permissions.getAll()."""
        return (self.required | self.granted).visible()

    def contains(self, requested: Permissions) -> bool:
        """The result of permissions.contains()."""
        return not self.missing(requested)

    def missing(self, requested: Permissions) -> Permissions:
        """The requested permissions that the user would have to grant."""
        current = self.required | self.granted
        origins = tuple(origin for origin in requested.origins if not subsumes(current.origins, origin))
        others = requested - current
        return Permissions(others.permissions, origins, others.data_collection)

    def check_request(self, requested: Permissions) -> None:
        """Raise UndeclaredPermission if the manifest does not declare these permissions as optional."""
        for name in requested.permissions:
            if name not in self.optional.permissions:
                raise UndeclaredPermission(
                    f"Cannot request permission {name} since it was not declared in optional_permissions"
                )
            if name in ALONE and requested != Permissions((name,)):
                raise UndeclaredPermission(f"Cannot request permission {name} with another permission")
        for origin in requested.origins:
            if not subsumes(self.optional.origins, origin):
                raise UndeclaredPermission(
                    f"Cannot request origin permission for {origin} since it was not declared in the manifest"
                )
        for kind in requested.data_collection:
            if kind not in self.optional.data_collection:
                raise UndeclaredPermission(
                    f"Cannot request data collection permission {kind} since it "
                    "was not declared in data_collection_permissions.optional"
                )

    def grant(self, permissions: Permissions) -> Permissions:
        """Grant permissions; returns the newly granted ones, for permissions.onAdded."""
        added = _canonical(permissions) - self.granted
        self.granted |= added
        self.effective |= self._names_and_patterns()
        return added

    def remove(self, permissions: Permissions) -> Permissions:
        """Revoke granted permissions; returns the revoked ones, for permissions.onRemoved.

        Required permissions stay. An origin is revoked only if it was granted with the same pattern.
        """
        remaining = self.granted - _canonical(permissions)
        removed = self.granted - remaining
        before = self._names_and_patterns()
        self.granted = remaining
        self.effective -= before - self._names_and_patterns()
        return removed

    def _names_and_patterns(self) -> set[str]:
        current = self.required | self.granted
        return {*current.permissions, *current.origins}


def is_host_pattern(text: str) -> bool:
    """Whether a permission is a match pattern, not a name."""
    return parse_match_pattern(text) is not None


def host_pattern(text: str) -> str:
    """A match pattern with any path, because host permissions ignore paths."""
    if text == ALL_URLS:
        return text
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/*"


def subsumes(patterns: Iterable[str], pattern: str) -> bool:
    """Whether one of the patterns matches every URL that `pattern` matches, ignoring paths."""
    narrow = parse_match_pattern(pattern)
    if narrow is None:
        return False
    return any(_covers(wide, narrow) for wide in map(parse_match_pattern, patterns) if wide is not None)


def _covers(wide: MatchPattern, narrow: MatchPattern) -> bool:
    if not narrow.schemes <= wide.schemes:
        return False
    if wide.domain is None:
        return True
    if narrow.domain is None or (narrow.subdomains and not wide.subdomains):
        return False
    return narrow.domain == wide.domain or (wide.subdomains and narrow.domain.endswith(f".{wide.domain}"))


def _canonical(permissions: Permissions) -> Permissions:
    origins = tuple(map(host_pattern, permissions.origins))
    return Permissions(permissions.permissions, origins, permissions.data_collection) | NONE


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _without(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    unwanted = frozenset(others)
    return tuple(item for item in items if item not in unwanted)
