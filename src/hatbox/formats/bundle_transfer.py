"""Imports a bundle into a profile, and exports one. Transaction functions: all or nothing.

Knows no format. The rules for cookies are in `cookie_merge`. Existing data stays unchanged, so a second import changes
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from hatbox.cookies.cookie import Cookie
from hatbox.cookies.cookie_rows import load_cookies, write_changes
from hatbox.errors import InvalidColor, InvalidIcon
from hatbox.formats.adjacent_files import count_beside
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportReport
from hatbox.formats.cookie_merge import merge
from hatbox.formats.import_progress import ImportProgress
from hatbox.identities import changes, model, palette
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.identities.model import ContextualIdentity
from hatbox.javascript.text import is_blank, well_formed
from hatbox.store.base import Transaction

__all__ = ["export_bundle", "import_bundle"]

UNNAMED: Final = "identities without a name"
UNKNOWN_LOOKS: Final = "identities whose color or icon is not in the palette: they are gray, or have a circle"


def import_bundle(
    transaction: Transaction,
    bundle: Bundle,
    now: float,
    into: str | None = None,
    progress: ImportProgress | None = None,
) -> ImportReport:
    """Import a bundle. With `into`, an id or a name, all cookies go to that identity, and none is created.

    An identity is the one of the profile that has the same name, icon and color; where there is none it is made.
    """
    merged = 0
    report = ImportReport(skipped=Counter(bundle.skipped), dropped=Counter(bundle.dropped))
    if into is None:
        ids = _identified(transaction, bundle, report)
    else:
        ids = [_store_id(transaction, into)] * len(bundle.entries)
    # Merge per store: two entries for one store must not evict each other's cookies.
    given: dict[str | None, list[Cookie]] = {}
    for cookie_store_id, holding in zip(ids, bundle.entries, strict=True):
        given.setdefault(cookie_store_id, []).extend(holding.cookies)
    for cookie_store_id, cookies in given.items():
        if cookie_store_id is not None and cookies:
            number = user_context_id_of(cookie_store_id) or 0
            if changes := merge(load_cookies(transaction, number), cookies, now, report):
                write_changes(transaction, number, changes)
        merged += len(cookies)
        if progress is not None:
            progress.merged = merged
    if bundle.ordered and into is None:
        _arrange(transaction, [each for each in ids if each is not None and each != DEFAULT_COOKIE_STORE_ID])
    return report


def export_bundle(transaction: Transaction, now: float, wanted: Sequence[str] | None = None) -> Bundle:
    """Export identities, by id or name, with their cookies; by default all, and the default store if it has cookies."""
    if wanted is not None:
        ids = dict.fromkeys(_store_id(transaction, each) for each in wanted)
        return _bundle(transaction, [_holding(transaction, each, now) for each in ids], whole=False)
    everything = [DEFAULT_COOKIE_STORE_ID, *(each.cookie_store_id for each in model.query(transaction))]
    holdings = [_holding(transaction, each, now) for each in everything]
    return _bundle(transaction, holdings, whole=True)


def _bundle(transaction: Transaction, holdings: Sequence[BundleEntry], *, whole: bool) -> Bundle:
    """The default store is left out of a whole profile if it has no cookies."""
    beside = count_beside(transaction, [each.number for each in holdings], whole=whole)
    wanted = [each for each in holdings if not whole or each.label or each.cookies]
    return Bundle(wanted, ordered=True, not_carried=beside)


def _store_id(transaction: Transaction, name_or_id: str) -> str:
    return (
        DEFAULT_COOKIE_STORE_ID
        if name_or_id == DEFAULT_COOKIE_STORE_ID
        else model.find(transaction, name_or_id).cookie_store_id
    )


def _holding(transaction: Transaction, cookie_store_id: str, now: float) -> BundleEntry:
    number = user_context_id_of(cookie_store_id) or 0
    label = None
    if number:
        identity = model.get(transaction, cookie_store_id)
        label = IdentityAttributes(identity.name, identity.icon, identity.color, identity.hidden)
    lasting = [cookie for cookie in load_cookies(transaction, number) if not cookie.expired(now)]
    return BundleEntry(label, sorted(lasting, key=lambda cookie: cookie.sequence), number)


# --------------------------------------------------------------------------------------------------- identities

_Free: TypeAlias = dict[tuple[str, str, str], list[ContextualIdentity]]


def _identified(transaction: Transaction, bundle: Bundle, report: ImportReport) -> list[str | None]:
    """The store of each entry: of an equal identity that is not matched yet, or of a new one."""
    free: _Free = {}
    for identity in model.query(transaction):
        free.setdefault((identity.name, identity.icon, identity.color), []).append(identity)
    return [
        DEFAULT_COOKIE_STORE_ID if holding.label is None else _id_for(transaction, holding.label, free, report)
        for holding in bundle.entries
    ]


def _id_for(transaction: Transaction, label: IdentityAttributes, free: _Free, report: ImportReport) -> str | None:
    if is_blank(label.name):
        report.skipped[UNNAMED] += 1
        return None
    name, icon, color = well_formed(label.name), _known_icon(label.icon), _known_color(label.color)
    fitting = icon or "circle", color or "gray"
    # Values outside the palette may be stored by a newer version.
    if same := free.get((name, label.icon, label.color)) or free.get((name, *fitting)):
        identity = same.pop(0)
        report.identities_matched += 1
    else:
        identity = changes.create(transaction, name, fitting[1], fitting[0])
        report.identities_new += 1
        if icon is None or color is None:
            report.dropped[UNKNOWN_LOOKS] += 1
    if label.hidden is not None and label.hidden != identity.hidden:
        change = changes.hide if label.hidden else changes.show
        change(transaction, identity.cookie_store_id)
    return identity.cookie_store_id


def _known_icon(name: str) -> str | None:
    try:
        return palette.accepted_icon(name)
    except InvalidIcon:
        return None


def _known_color(name: str) -> str | None:
    try:
        return palette.accepted_color(name)
    except InvalidColor:
        return None


def _arrange(transaction: Transaction, ids: Sequence[str]) -> None:
    """Put these identities into this order, at the positions that they have among all."""
    order = [each.cookie_store_id for each in model.query(transaction)]
    wanted, moved = iter(ids), frozenset(ids)
    for place, now_there in enumerate([next(wanted) if each in moved else each for each in order]):
        if order[place] != now_there:
            changes.move(transaction, [now_there], place)
            order.remove(now_there)
            order.insert(place, now_there)
