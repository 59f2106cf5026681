"""Finds identities among rows by name, cookieStoreId or UUID. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hatbox.errors import AmbiguousIdentity, HatboxError
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of

__all__ = ["select_identities"]

_MAX_NAMES: Final = 2_000  # that are compared with a misspelled one


def select_identities(
    rows: Sequence[tuple[Any, ...]], wanted: Sequence[str], not_found: Callable[[str, Sequence[str]], HatboxError]
) -> frozenset[int]:
    """The ids of the wanted identities; 0 for `firefox-default`. Raises AmbiguousIdentity, or what `not_found` makes.

    Rows are those of the table of identities.
    """
    ids: set[int] = set()
    for each in wanted:
        if each == DEFAULT_COOKIE_STORE_ID:
            ids.add(0)
            continue
        found = [row[0] for row in rows if each in (row[1], cookie_store_id_of(row[0]), row[6])]
        if not found:
            raise not_found(each, _nearest(each, [row[1] for row in rows[:_MAX_NAMES]]))
        if len(found) > 1:
            raise AmbiguousIdentity(each, [cookie_store_id_of(number) for number in found])
        ids.add(found[0])
    return frozenset(ids)


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    import difflib  # imported for misspelled names only

    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return [by_folded[folded] for folded in close]
