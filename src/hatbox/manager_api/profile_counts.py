"""How many sites, tabs, rules, extensions and removed identities a profile has: transaction functions.

Each number is that of the list which the page shows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import COOKIE_CHANGED
from hatbox.cookies.cookie_sites import host_of
from hatbox.extension_data import installed_extensions, run_records
from hatbox.identities import model as identity_model
from hatbox.identities.site_rules.rule_rows import find_rules
from hatbox.identities.site_rules.site_rule import RULES_CHANGED
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.store.base import Transaction
from hatbox.tabs import tab_model

__all__ = ["COUNTED_TOPICS", "ProfileCounts", "count_all"]

COUNTED_TOPICS: Final = (
    identity_model.CREATED,
    identity_model.REMOVED,
    tab_model.CREATED,
    tab_model.REMOVED,
    COOKIE_CHANGED,
    RULES_CHANGED,
    TRASH_CHANGED,
    installed_extensions.CHANGED,
    installed_extensions.INSTALLED,
    installed_extensions.UNINSTALLED,
    run_records.STARTED,
    run_records.STOPPED,
)
"""The topics of changes that may change a number."""


class ProfileCounts(NamedTuple):
    """The numbers."""

    identities: int
    sites: int
    """The sites with cookies that have not expired, of all identities together."""
    tabs: int
    rules: int
    extensions: int
    """Those that are installed or running."""
    trash: int
    """The removed identities that can be restored."""


def count_all(transaction: Transaction, now: float) -> ProfileCounts:
    """Count. `now` is the time of the store."""
    return ProfileCounts(
        identities=transaction.identities.count(),
        sites=_count_sites(transaction, now),
        tabs=sum(transaction.tabs.counts_by_store().values()),
        rules=len(find_rules(transaction)),
        extensions=_count_extensions(transaction),
        trash=len(transaction.trash.find()),
    )


def _count_sites(transaction: Transaction, now: float) -> int:
    time = cookie_time(transaction, now)
    domains = {
        domain for _, domain, _, _, expires, _, _ in transaction.cookies.metadata() if expires is None or expires > time
    }
    return len({host_of(each) for each in domains})


def _count_extensions(transaction: Transaction) -> int:
    running = {run.id for run in run_records.get_all(transaction)}
    known = installed_extensions.get_all(transaction)
    return sum(1 for each in known if each.permanent or each.area in running)
