"""Writing the activity log, as transaction functions: its bounds, and the setting of an identity.

The number of entries is bounded. The grant or identity with most entries loses its oldest first, so that a grant which
floods the log deletes its own entries and not those of others. Summaries replace them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from hatbox.identity.ids import cookie_store_id_of
from hatbox.javascript.text import well_formed
from hatbox.store.base import Transaction
from hatbox.store.grant_tables import ActivityRow
from hatbox.store.processes import current_process, program_name
from hatbox.urls.url import parse_url

__all__ = [
    "ACTIVITY_RECORDED",
    "ACTIVITY_SETTING_CHANGED",
    "MAX_ENTRIES",
    "OTHER_HOSTS",
    "clear_activity",
    "is_recorded",
    "load_recorded",
    "record_page",
    "recorded_stores",
    "set_recorded",
    "share",
    "write_entries",
]

MAX_ENTRIES: Final = 50_000
"""The number of entries above which the oldest are deleted."""
OTHER_HOSTS: Final = "<others>"
"""The host of a summary. No host of a URL contains these characters."""
ACTIVITY_RECORDED: Final = "activity_log.recorded"
"""The topic of new entries. Its payload is `null`."""
ACTIVITY_SETTING_CHANGED: Final = "activity_log.setting"
"""The topic of a change of the setting. Its payload is the cookieStoreId."""

_SETTING: Final = "activity"
_ON: Final = b"true"
_REMAINING: Final = 0.9  # of the limit: deleting few at a time would count all entries each time

Key = TypeVar("Key")


def is_recorded(transaction: Transaction, user_context_id: int) -> bool:
    """Whether the activity of an identity is recorded."""
    return transaction.settings.get(user_context_id, _SETTING) == _ON


def load_recorded(transaction: Transaction, user_context_id: int) -> None:
    """Announce a call of is_recorded(). See Transaction.load."""
    transaction.load(settings=[(user_context_id, _SETTING)])


def recorded_stores(transaction: Transaction) -> frozenset[int]:
    """The userContextIds of the identities whose activity is recorded."""
    return frozenset(identity for identity, value in transaction.settings.find(_SETTING) if value == _ON)


def set_recorded(transaction: Transaction, user_context_id: int, *, recorded: bool) -> None:
    """Switch the recording of an identity on or off. Entries stay."""
    if is_recorded(transaction, user_context_id) == recorded:
        return
    if recorded:
        transaction.settings.put(user_context_id, _SETTING, _ON)
    else:
        transaction.settings.delete(user_context_id, _SETTING)
    payload = msgspec.json.encode(cookie_store_id_of(user_context_id))
    transaction.changes.append(ACTIVITY_SETTING_CHANGED, payload)


def record_page(transaction: Transaction, user_context_id: int, url: str, *, failed: bool) -> None:
    """Record that an engine of this process has loaded a page, if the activity of its identity is recorded."""
    if not is_recorded(transaction, user_context_id):
        return
    parsed = parse_url(url)
    host, outcome = parsed.host if parsed is not None else "", "failed" if failed else "ok"
    program, machine = well_formed(program_name()), well_formed(current_process().machine)
    row = ActivityRow(0, transaction.time(), "", program, machine, user_context_id, "pages", host, outcome, 1)
    write_entries(transaction, [row], limit=MAX_ENTRIES)


def write_entries(
    transaction: Transaction, rows: Sequence[ActivityRow], *, limit: int | None = None
) -> list[ActivityRow]:
    """Add entries, or change those with an id. With `limit`, delete the oldest above this number.

    An identity that was deleted for ever meanwhile gets none. Returns the rows with their ids.
    """
    stores = {row.store for row in rows if row.store}
    transaction.load(identities=stores)
    gone = {store for store in stores if _is_deleted(transaction, store)}
    transaction.activity.put(row for row in rows if row.id and row.store not in gone)
    added = iter(transaction.activity.insert(row for row in rows if not row.id and row.store not in gone))
    written = [row if row.id or row.store in gone else next(added) for row in rows]
    transaction.changes.append(ACTIVITY_RECORDED, b"null")
    if limit is not None and transaction.activity.count() > limit:
        _prune(transaction, int(limit * _REMAINING))
    return written


def _is_deleted(transaction: Transaction, store: int) -> bool:
    return transaction.identities.get(store) is None and transaction.trash.size(store) is None


def _prune(transaction: Transaction, remaining: int) -> None:
    """Replace the oldest entries of the grants and identities with most entries by summaries."""
    owners: dict[str | int | None, dict[tuple[str, int | None], int]] = {}
    for grant, store, number in transaction.activity.sizes():
        owners.setdefault(grant or store, {})[grant, store] = number
    shares = share({owner: sum(parts.values()) for owner, parts in owners.items()}, remaining)
    for owner, parts in owners.items():
        for (grant, store), stays in share(parts, shares[owner]).items():
            if stays < parts[grant, store]:
                number = parts[grant, store] - stays
                summaries = _summaries(transaction.activity.oldest(grant, store, number))
                transaction.activity.delete_oldest(grant, store, number)
                transaction.activity.put(summaries)


def _summaries(rows: Iterable[ActivityRow]) -> list[ActivityRow]:
    """One row for each action and outcome: the last one, with the number of all."""
    found: dict[tuple[str, str], ActivityRow] = {}
    for row in rows:
        known = found.get((row.action, row.outcome))
        times = row.times if known is None else row.times + known.times
        found[row.action, row.outcome] = row._replace(program="", machine="", host=OTHER_HOSTS, times=times)
    return list(found.values())


def share(sizes: Mapping[Key, int], total: int) -> dict[Key, int]:
    """The number of entries that stay for each key: at most `total` together, and small numbers stay as they are."""
    shares: dict[Key, int] = {}
    for key, size in sorted(sizes.items(), key=lambda each: each[1]):
        shares[key] = min(size, total // (len(sizes) - len(shares)))
        total -= shares[key]
    return shares


def clear_activity(transaction: Transaction, user_context_ids: Iterable[int]) -> None:
    """Delete the entries of identities that were deleted from the trash for ever."""
    deleted: Collection[int] = list(user_context_ids)
    transaction.load(identities=deleted)
    for each in deleted:
        if transaction.identities.get(each) is None:  # else it was restored from a backup
            transaction.activity.clear(each)
