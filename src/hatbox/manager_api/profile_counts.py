"""How many sites, tabs, rules, extensions and removed identities a profile has: transaction functions.

Each number is that of the list which the page shows.
"""

from __future__ import annotations

from typing import NamedTuple

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_sites import host_of
from hatbox.extension_data import installed_extensions
from hatbox.extension_data.run_records import get_all as get_runs
from hatbox.identities.site_rules.rule_rows import find_rules
from hatbox.store.base import Transaction

__all__ = ["ProfileCounts", "count_all"]


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
    running = {run.id for run in get_runs(transaction)}
    known = installed_extensions.get_all(transaction)
    return sum(1 for each in known if each.permanent or each.area in running)
