"""How many sites, tabs, rules, extensions and removed identities a profile has.

Each number is that of the list which the page shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, NamedTuple

from hatbox.cookies.cookie_rows import COOKIE_CHANGED
from hatbox.cookies.cookie_sites import host_of
from hatbox.extension_data import installed_extensions, run_records
from hatbox.identities import model as identity_model
from hatbox.identities.site_rules.rule_rows import find_rules
from hatbox.identities.site_rules.site_rule import RULES_CHANGED
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.manager_api.cookie_domains import valid_domains
from hatbox.store.base import Store, Transaction
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


async def count_all(store: Store) -> ProfileCounts:
    """Count."""
    domains = {domain for _, domain in await valid_domains(store)}
    sites = await asyncio.to_thread(_count_sites, domains)
    return await store.read(lambda transaction: _count(transaction, sites))


def _count(transaction: Transaction, sites: int) -> ProfileCounts:
    return ProfileCounts(
        identities=transaction.identities.count(),
        sites=sites,
        tabs=sum(transaction.tabs.counts_by_store().values()),
        rules=len(find_rules(transaction)),
        extensions=_count_extensions(transaction),
        trash=len(transaction.trash.find()),
    )


def _count_sites(domains: Iterable[str]) -> int:
    return len(set(map(host_of, domains)))


def _count_extensions(transaction: Transaction) -> int:
    running = {run.id for run in run_records.get_all(transaction)}
    known = installed_extensions.get_all(transaction)
    return sum(1 for each in known if each.permanent or each.area in running)
