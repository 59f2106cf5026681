"""Imports a bundle into a profile, and exports one. Transaction functions: all or nothing.

Knows no format. `identity_match` decides about identities, `cookie_merge` about cookies, `site_data_merge` about site
data. Other data stays unchanged, so a second import changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence

from hatbox.cookies.cookie import Cookie
from hatbox.cookies.cookie_rows import load_cookies, write_changes
from hatbox.formats.adjacent_files import count_beside
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportReport, SiteData
from hatbox.formats.cookie_merge import merge
from hatbox.formats.identity_match import match_identities, remember_sources
from hatbox.formats.import_progress import ImportProgress
from hatbox.formats.site_data_merge import RUNNING, merge_site_data
from hatbox.identities import changes
from hatbox.identity import model
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.store.base import Transaction

__all__ = ["arrange", "export_bundle", "import_bundle"]


def import_bundle(
    transaction: Transaction,
    bundle: Bundle,
    now: float,
    into: str | None = None,
    progress: ImportProgress | None = None,
    running: Container[str] = (),
    on_matched: Callable[[Sequence[str | None]], None] = lambda _: None,
) -> ImportReport:
    """Import a bundle. With `into`, an id or a name, everything goes to that identity, and none is created.

    Otherwise `identity_match` finds the identities. `running` has the cookieStoreIds of identities whose site data is
    in a running browser, which would overwrite imported data. `on_matched` is called with the id of the identity of
    each entry, before its data is imported.
    """
    report = ImportReport(skipped=Counter(bundle.skipped), dropped=Counter(bundle.dropped))
    if into is None:
        ids = match_identities(transaction, bundle, report)
    else:
        ids = [_store_id(transaction, into)] * len(bundle.entries)
        report.identities_matched += any(entry.label is not None for entry in bundle.entries)
    on_matched(ids)
    remember_sources(transaction, bundle.entries, ids)
    _merge_cookies(transaction, bundle, ids, now, report, progress)
    for cookie_store_id, entry in zip(ids, bundle.entries, strict=True):
        if cookie_store_id is not None and entry.site_data:
            if cookie_store_id in running:
                report.skipped[RUNNING] += len(entry.site_data)
            else:
                number = user_context_id_of(cookie_store_id) or 0
                merge_site_data(transaction, number, entry.site_data, report)
    if bundle.ordered and into is None:
        arrange(transaction, [each for each in ids if each is not None and each != DEFAULT_COOKIE_STORE_ID])
    return report


def _merge_cookies(
    transaction: Transaction,
    bundle: Bundle,
    ids: Sequence[str | None],
    now: float,
    report: ImportReport,
    progress: ImportProgress | None,
) -> None:
    # Merge per store: two entries for one store must not evict each other's cookies.
    merged = 0
    given: dict[str | None, list[Cookie]] = {}
    for cookie_store_id, holding in zip(ids, bundle.entries, strict=True):
        given.setdefault(cookie_store_id, []).extend(holding.cookies)
    for cookie_store_id, cookies in given.items():
        if cookie_store_id is not None and cookies:
            number = user_context_id_of(cookie_store_id) or 0
            if changed := merge(load_cookies(transaction, number), cookies, now, report):
                write_changes(transaction, number, changed)
        merged += len(cookies)
        if progress is not None:
            progress.merged = merged


def export_bundle(transaction: Transaction, now: float, wanted: Sequence[str] | None = None) -> Bundle:
    """Export identities, by id or name, with their cookies; by default all, and the default store if it has cookies."""
    if wanted is not None:
        ids = dict.fromkeys(_store_id(transaction, each) for each in wanted)
        return _bundle(transaction, [_holding(transaction, each, now) for each in ids], whole=False)
    everything = [DEFAULT_COOKIE_STORE_ID, *(each.cookie_store_id for each in model.query(transaction))]
    holdings = [_holding(transaction, each, now) for each in everything]
    return _bundle(transaction, holdings, whole=True)


def _bundle(transaction: Transaction, holdings: Sequence[BundleEntry], *, whole: bool) -> Bundle:
    """The default store is left out of a whole profile if it is empty."""
    beside = count_beside(transaction, [each.number for each in holdings], whole=whole)
    wanted = [each for each in holdings if not whole or each.label or each.cookies or each.site_data]
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
    return BundleEntry(
        label,
        sorted(lasting, key=lambda cookie: cookie.sequence),
        number,
        [SiteData(origin, data) for origin, data in sorted(transaction.site_data.load(number))],
        (transaction.identities.uuid(number) or "") if number else "",
    )


def arrange(transaction: Transaction, ids: Sequence[str]) -> None:
    """Put these identities into this order, at the positions that they have among all."""
    order = [each.cookie_store_id for each in model.query(transaction)]
    wanted, moved = iter(ids), frozenset(ids)
    for place, now_there in enumerate([next(wanted) if each in moved else each for each in order]):
        if order[place] != now_there:
            changes.move(transaction, [now_there], place)
            order.remove(now_there)
            order.insert(place, now_there)
