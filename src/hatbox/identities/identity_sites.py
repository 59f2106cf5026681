"""Who is signed in where: the sites of each identity, from the metadata of its cookies. Reads no value."""

from __future__ import annotations

import msgspec

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_sites import cookie_sites, host_of
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import IdentityLike, store_number
from hatbox.store.base import Transaction
from hatbox.urls.hosts import canonical_host
from hatbox.urls.url import parse_url

__all__ = ["IdentitySite", "find_sites"]


class IdentitySite(msgspec.Struct, frozen=True, rename="camel"):
    """A site that an identity has cookies of. Times are in seconds since 1970."""

    host: str
    """The registrable domain, as in the settings of browsers; an IP address or a single name is its own site."""
    cookie_store_id: str
    name: str
    """The name of the identity; empty for the default store."""
    signed_in_since: float | None
    """When the oldest cookie was created that looks like a sign-in, by its name and flags; None without one."""
    last_used: float | None
    """When one of its cookies was sent or set the last time; None if all are from a file."""
    cookies: int
    """How many have not expired."""


def find_sites(
    transaction: Transaction, now: float, identity: IdentityLike | None = None, host: str | None = None
) -> list[IdentitySite]:
    """The sites of all identities, or of one, or the identities of one site: by site, those signed in first."""
    names = {0: "", **{row[0]: row[1] for row in transaction.identities.find()}}
    store = None if identity is None else store_number(transaction, identity)
    wanted = None if host is None else _site_of(host)
    cookies = transaction.cookies.metadata([each for each in names if store in (None, each)])
    found = [
        IdentitySite(
            site.host,
            cookie_store_id_of(number),
            names[number],
            site.signed_in_since,
            site.last_used or None,
            site.cookies,
        )
        for number, sites in cookie_sites(cookies, cookie_time(transaction, now)).items()
        for site in sites
        if wanted in (None, site.host)
    ]
    return sorted(found, key=lambda each: (each.host, each.signed_in_since is None, each.name, each.cookie_store_id))


def _site_of(text: str) -> str:
    parsed = parse_url(text)
    return host_of(parsed.host if parsed is not None and parsed.host else canonical_host(text))
