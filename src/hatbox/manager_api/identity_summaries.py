"""Identities with counts of what belongs to them: tabs, cookies, sites, rules. Transaction functions.

Several identities are summarized with one query per table, and without cookie values: a profile may have ten thousand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import msgspec

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_sites import CookieSite, cookie_sites
from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.site_rules.rule_rows import find_rules
from hatbox.store.base import IdentityRow, Transaction

__all__ = ["MAX_HOSTS", "IdentitySummary", "SummaryBasis", "read_basis", "rule_counts", "summaries_of", "summary_of"]

MAX_HOSTS: Final = 5
"""The number of sites that a summary names."""


class IdentitySummary(msgspec.Struct, frozen=True, kw_only=True):
    """An identity, and what belongs to it."""

    cookie_store_id: str
    name: str
    color: str
    icon: str
    hidden: bool
    tabs: int
    cookies: int
    """The number of its cookies that have not expired."""
    sites: int
    """The number of sites with cookies."""
    signed_in: int
    """The number of sites where it looks signed in."""
    hosts: list[str]
    """Sites where it looks signed in, the one that was used last first: at most MAX_HOSTS."""
    rules: int
    """The number of site rules that name it."""


class SummaryBasis(NamedTuple):
    """What the summaries of all identities need, and is read once."""

    time: float
    """The time that cookies expire by."""
    rules: Counter[str]
    """The number of site rules that name each cookieStoreId."""


def read_basis(transaction: Transaction, now: float) -> SummaryBasis:
    """Read the basis of summaries. `now` is the time of the store."""
    return SummaryBasis(cookie_time(transaction, now), rule_counts(transaction))


def summaries_of(
    transaction: Transaction, cookie_store_ids: Collection[str], basis: SummaryBasis
) -> list[IdentitySummary]:
    """Those of these identities that exist, each once, in this order."""
    ids = [each for each in map(container_user_context_id, dict.fromkeys(cookie_store_ids)) if each]
    return _summaries(transaction, transaction.identities.get_many(ids), basis)


def summary_of(transaction: Transaction, cookie_store_id: str, now: float) -> IdentitySummary:
    """One identity. `now` is the time of the store. Raises InvalidIdentity."""
    found = summaries_of(transaction, [cookie_store_id], read_basis(transaction, now))
    if not found:
        raise InvalidIdentity(cookie_store_id)
    return found[0]


def rule_counts(transaction: Transaction) -> Counter[str]:
    """The number of site rules that name each cookieStoreId."""
    return Counter(each for rule in find_rules(transaction) for each in dict.fromkeys(rule.identities))


def _summaries(transaction: Transaction, rows: Sequence[IdentityRow], basis: SummaryBasis) -> list[IdentitySummary]:
    if not rows:
        return []
    stores = [row[0] for row in rows]
    tabs = transaction.tabs.counts_by_store(stores)
    sites = cookie_sites(transaction.cookies.metadata(stores), basis.time)
    return [_summary(row, tabs.get(row[0], 0), sites.get(row[0], []), basis.rules) for row in rows]


def _summary(row: IdentityRow, tabs: int, sites: list[CookieSite], rules: Counter[str]) -> IdentitySummary:
    user_context_id, name, icon, color, hidden = row
    cookie_store_id = cookie_store_id_of(user_context_id)
    signed_in = [site.host for site in sites if site.signed_in_since is not None]
    return IdentitySummary(
        cookie_store_id=cookie_store_id,
        name=name,
        color=color,
        icon=icon,
        hidden=bool(hidden),
        tabs=tabs,
        cookies=sum(site.cookies for site in sites),
        sites=len(sites),
        signed_in=len(signed_in),
        hosts=signed_in[:MAX_HOSTS],
        rules=rules[cookie_store_id],
    )
