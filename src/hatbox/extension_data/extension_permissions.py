"""What an extension may do: what its manifest asks for, what it may ask for later, and what it has been given.

The rules and the words of `browser.permissions`. Whether a user agrees is asked elsewhere; nothing is stored here.
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
    """Permissions as `browser.permissions` speaks of them: names, match patterns of hosts, and kinds of data."""

    permissions: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    data_collection: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.permissions or self.origins or self.data_collection)

    def __or__(self, other: Permissions) -> Permissions:
        """Both, each once, in the order in which they came."""
        return Permissions(
            _unique([*self.permissions, *other.permissions]),
            _unique([*self.origins, *other.origins]),
            _unique([*self.data_collection, *other.data_collection]),
        )

    def __sub__(self, other: Permissions) -> Permissions:
        """Those that are not in the other one, origins compared as text."""
        return Permissions(
            _without(self.permissions, other.permissions),
            _without(self.origins, other.origins),
            _without(self.data_collection, other.data_collection),
        )

    def within(self, declared: Permissions) -> Permissions:
        """Those that are declared, origins if a declared pattern covers them, and what no manifest declares."""
        return Permissions(
            tuple(name for name in self.permissions if name in declared.permissions or name.startswith(_INTERNAL)),
            tuple(origin for origin in self.origins if subsumes(declared.origins, origin)),
            tuple(kind for kind in self.data_collection if kind in declared.data_collection),
        )

    def visible(self) -> Permissions:
        """Without what a script never sees: permissions such as `internal:privateBrowsingAllowed`."""
        names = tuple(name for name in self.permissions if not name.startswith(_INTERNAL))
        return Permissions(names, self.origins, self.data_collection)


NONE = Permissions()


class ExtensionPermissions:
    """The permissions of one extension, live: what changes here changes `held`, a set such as that of a Caller.

    `required` never changes, `granted` does: it is all that has to be kept from one run to the next. The extension may
    ask for what is in `optional`. With manifest version 3 the hosts of the manifest are optional too.
    """

    def __init__(
        self, required: Permissions, optional: Permissions, granted: Permissions = NONE, held: set[str] | None = None
    ) -> None:
        self.required = required
        self.optional = optional
        self.granted = granted
        self.effective = set() if held is None else held
        self.effective |= self._names_and_patterns()

    def get_all(self) -> Permissions:
        """All that it holds, as permissions.getAll() tells."""
        return (self.required | self.granted).visible()

    def contains(self, wanted: Permissions) -> bool:
        """Whether it holds all of this, as permissions.contains() tells."""
        return not self.missing(wanted)

    def missing(self, wanted: Permissions) -> Permissions:
        """What of this it does not hold: what a user would have to be asked for."""
        held = self.required | self.granted
        origins = tuple(origin for origin in wanted.origins if not subsumes(held.origins, origin))
        lacking = wanted - held
        return Permissions(lacking.permissions, origins, lacking.data_collection)

    def check_request(self, wanted: Permissions) -> None:
        """UndeclaredPermission, in Firefox's words, if permissions.request() may not ask for this."""
        for name in wanted.permissions:
            if name not in self.optional.permissions:
                raise UndeclaredPermission(
                    f"Cannot request permission {name} since it was not declared in optional_permissions"
                )
            if name in ALONE and wanted != Permissions((name,)):
                raise UndeclaredPermission(f"Cannot request permission {name} with another permission")
        for origin in wanted.origins:
            if not subsumes(self.optional.origins, origin):
                raise UndeclaredPermission(
                    f"Cannot request origin permission for {origin} since it was not declared in the manifest"
                )
        for kind in wanted.data_collection:
            if kind not in self.optional.data_collection:
                raise UndeclaredPermission(
                    f"Cannot request data collection permission {kind} since it "
                    "was not declared in data_collection_permissions.optional"
                )

    def grant(self, given: Permissions) -> Permissions:
        """Give it all of this; returns what it had not been given before: what onAdded tells, if it is visible."""
        added = _canonical(given) - self.granted
        self.granted |= added
        self.effective |= self._names_and_patterns()
        return added

    def remove(self, taken: Permissions) -> Permissions:
        """Take back what it has been given of this; returns what that was: what onRemoved tells, if it is visible.

        What the manifest requires stays, without complaint. An origin goes only if it was given by the same pattern.
        """
        kept = self.granted - _canonical(taken)
        removed = self.granted - kept
        before = self._names_and_patterns()
        self.granted = kept
        self.effective -= before - self._names_and_patterns()
        return removed

    def _names_and_patterns(self) -> set[str]:
        every = self.required | self.granted
        return {*every.permissions, *every.origins}


def is_host_pattern(text: str) -> bool:
    """Whether it is a match pattern, and no name of a permission."""
    return parse_match_pattern(text) is not None


def host_pattern(text: str) -> str:
    """A match pattern as it counts for permissions: its path is any."""
    if text == ALL_URLS:
        return text
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/*"


def subsumes(patterns: Iterable[str], pattern: str) -> bool:
    """Whether one of the patterns matches every URL, paths aside, that this one matches."""
    wanted = parse_match_pattern(pattern)
    if wanted is None:
        return False
    return any(_covers(held, wanted) for held in map(parse_match_pattern, patterns) if held is not None)


def _covers(wide: MatchPattern, narrow: MatchPattern) -> bool:
    if not narrow.schemes <= wide.schemes:
        return False
    if wide.domain is None:
        return True
    if narrow.domain is None or (narrow.subdomains and not wide.subdomains):
        return False
    return narrow.domain == wide.domain or (wide.subdomains and narrow.domain.endswith(f".{wide.domain}"))


def _canonical(given: Permissions) -> Permissions:
    return Permissions(given.permissions, tuple(map(host_pattern, given.origins)), given.data_collection) | NONE


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _without(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    unwanted = frozenset(others)
    return tuple(item for item in items if item not in unwanted)
