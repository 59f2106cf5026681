"""Deletes an identity that has no tabs, and temporary identities with their last tab. Transaction functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from hatbox.cookies.cookie_rows import delete_cookies
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import REMOVED, ContextualIdentity, record_change
from hatbox.store.base import CookieRow, IdentityRow, Transaction
from hatbox.tabs.program_records import ProgramRecord, delete_record, get_record, place_of_record

__all__ = [
    "delete_identity",
    "delete_unused_identities",
    "identities_until_last_tab",
    "places_of_temporary",
    "temporary_key",
]

_PREFIX: Final = "identity:"


def temporary_key(user_context_id: int) -> str:
    """The key of the record of a temporary identity."""
    return f"{_PREFIX}{user_context_id}"


def places_of_temporary(stores: Collection[int]) -> list[tuple[str, str, str]]:
    """What `identities_until_last_tab` reads, for Transaction.load."""
    return [place_of_record(temporary_key(store)) for store in stores if store]


def delete_identity(
    transaction: Transaction, row: IdentityRow, cookies: Sequence[CookieRow] | None = None, *, to_trash: bool = False
) -> ContextualIdentity:
    """Delete an identity without tabs, with all its data. Returns its last state.

    `cookies` are its cookies, if they were read already. With `to_trash`, its entries in the activity log stay until it
    is deleted there. Its grants do not come back with it.
    """
    from hatbox.grants.grant_rows import remove_identity_from_grants  # imported late, as rules: most commands need none
    from hatbox.site_rules.rule_rows import remove_rules_of

    transaction.grants.prefetch()
    delete_cookies(transaction, row[0], cookies)
    transaction.site_data.clear(row[0])
    transaction.history.clear(row[0])
    transaction.closed_tabs.clear(row[0])
    transaction.settings.clear(row[0])
    if not to_trash:
        transaction.activity.clear(row[0])
    remove_rules_of(transaction, cookie_store_id_of(row[0]))
    remove_identity_from_grants(transaction, cookie_store_id_of(row[0]))
    transaction.identities.delete(row[0])
    return record_change(transaction, REMOVED, row)


def identities_until_last_tab(transaction: Transaction, stores: Collection[int]) -> dict[int, ProgramRecord]:
    """Those of these cookie stores that are identities which are deleted with their last tab."""
    records = {store: get_record(transaction, temporary_key(store)) for store in stores if store}
    return {store: record for store, record in records.items() if record is not None and record.until_last_tab}


def delete_unused_identities(transaction: Transaction, identities: Mapping[int, ProgramRecord]) -> None:
    """Tabs of these identities were closed: delete those without any tab."""
    for store, record in identities.items():
        if transaction.tabs.find(store=store):
            continue
        delete_record(transaction, temporary_key(store))
        row = transaction.identities.get(store)
        if row is not None and transaction.identities.uuid(store) == record.identity:
            delete_identity(transaction, row)
