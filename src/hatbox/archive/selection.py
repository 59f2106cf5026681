"""The identities of an archive or a profile, and finding them by name, cookieStoreId or UUID. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hatbox.errors import AmbiguousIdentity, HatboxError
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.store.profile_copy import Table, selected

__all__ = ["IdentityEntry", "identity_entries", "select_identities"]

_MAX_NAMES: Final = 2_000  # that are compared with a misspelled one


class IdentityEntry(NamedTuple):
    """A row of the table of identities."""

    id: int
    name: str
    icon: str
    color: str
    hidden: int
    position: int
    uuid: str


def identity_entries(table: Table, rows: Sequence[tuple[Any, ...]]) -> list[IdentityEntry]:
    """Rows of the table of identities."""
    return [IdentityEntry._make(values) for values in selected(table, rows, *IdentityEntry._fields)]


def select_identities(
    entries: Sequence[IdentityEntry], wanted: Sequence[str], not_found: Callable[[str, Sequence[str]], HatboxError]
) -> frozenset[int]:
    """The ids of the wanted identities; 0 is `firefox-default`. Raises AmbiguousIdentity, or what `not_found` makes."""
    ids: set[int] = set()
    for each in wanted:
        if each == DEFAULT_COOKIE_STORE_ID:
            ids.add(0)
            continue
        found = [entry.id for entry in entries if each in (entry.name, cookie_store_id_of(entry.id), entry.uuid)]
        if not found:
            raise not_found(each, _nearest(each, [entry.name for entry in entries[:_MAX_NAMES]]))
        if len(found) > 1:
            raise AmbiguousIdentity(each, [cookie_store_id_of(number) for number in found])
        ids.add(found[0])
    return frozenset(ids)


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    import difflib  # imported for misspelled names only

    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return [by_folded[folded] for folded in close]
