"""Cookies in the profile: rows of the cookie table, and transaction functions that read and change them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

import msgspec

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange, Partition, SameSite
from hatbox.cookies.eviction import JarLimits
from hatbox.cookies.jar import Jar
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import CookieRow, CookieRowKey, Transaction

__all__ = [
    "COOKIE_CHANGED",
    "EXPIRES",
    "STORE_REMOVED",
    "add_rows",
    "cookie_of",
    "decode_change",
    "delete_cookies",
    "end_session",
    "expect_identity",
    "find_cookies",
    "jar_of",
    "load_cookies",
    "load_rows",
    "put_changes",
    "put_cookie",
    "row_key",
    "row_of",
    "write_changes",
]

COOKIE_CHANGED: Final = "cookies.changed"
STORE_REMOVED: Final = "cookies.gone"
EXPIRES: Final = 9  # column of a row
_SAME_SITE_COLUMN: Final = 8
_SAME_SITE: Final = {each.value: each for each in SameSite}


def delete_cookies(transaction: Transaction, user_context_id: int, rows: Sequence[CookieRow] | None = None) -> None:
    """Delete all cookies of an identity that is being removed: `rows`, if they were read already."""
    for row in transaction.cookies.load(user_context_id) if rows is None else rows:
        transaction.changes.append(COOKIE_CHANGED, _encode((user_context_id, True, ChangeCause.EXPLICIT, row)))
    transaction.cookies.clear(user_context_id)
    transaction.changes.append(STORE_REMOVED, str(user_context_id).encode())


def write_changes(transaction: Transaction, user_context_id: int, changes: Iterable[JarChange]) -> None:
    """Write changes of the cookies of a store, and append them to the change log in order."""
    expect_identity(transaction, user_context_id)
    put_changes(transaction, user_context_id, changes)


def put_changes(transaction: Transaction, user_context_id: int, changes: Iterable[JarChange]) -> None:
    """As write_changes(), where the identity is known to exist."""
    changes = list(changes)
    last = {change.cookie.key: change for change in changes}
    transaction.cookies.delete(user_context_id, [row_key(key) for key, change in last.items() if change.removed])
    transaction.cookies.put(user_context_id, [row_of(change.cookie) for change in last.values() if not change.removed])
    for cookie, removed, cause in changes:
        transaction.changes.append(COOKIE_CHANGED, _encode((user_context_id, removed, cause, row_of(cookie))))


def add_rows(transaction: Transaction, user_context_id: int, rows: Sequence[CookieRow], *, record: bool = True) -> None:
    """Add rows to a store without cookies. With `record`, append them to the change log. Raises KeyError for a value
    of SameSite that does not exist."""
    for row in rows:
        _SAME_SITE[row[_SAME_SITE_COLUMN]]
    transaction.cookies.put(user_context_id, rows)
    if record:
        for row in rows:
            transaction.changes.append(COOKIE_CHANGED, _encode((user_context_id, False, ChangeCause.EXPLICIT, row)))


def load_cookies(transaction: Transaction, user_context_id: int) -> list[Cookie]:
    """All cookies of a store, including expired ones, in no order."""
    return [cookie_of(row) for row in load_rows(transaction, user_context_id)]


def find_cookies(
    transaction: Transaction,
    user_context_id: int,
    *,
    names: Sequence[str] | None = None,
    domains: Sequence[str] | None = None,
    below: str | None = None,
) -> list[Cookie]:
    """Cookies with these names, of exactly these domains, or of a domain and its subdomains.

    Including expired ones, in no order.
    """
    return [
        cookie_of(row) for row in transaction.cookies.find(user_context_id, names=names, domains=domains, below=below)
    ]


def put_cookie(transaction: Transaction, user_context_id: int, cookie: Cookie, now: float) -> None:
    """Store a cookie of a trusted caller, such as an extension: only the limits of a store apply."""
    rows = transaction.cookies.find(user_context_id, names=[cookie.name], domains=[cookie.domain])
    if row_key(cookie.key) not in [row[:5] for row in rows]:
        rows += _eviction_candidates(transaction, user_context_id, cookie)
    jar = jar_of(rows)
    jar.purge_before = -inf  # only a whole store is purged
    write_changes(transaction, user_context_id, jar.put(cookie, now))


def _eviction_candidates(transaction: Transaction, user_context_id: int, cookie: Cookie) -> list[CookieRow]:
    """The cookies that may be evicted for one more; empty below the limits."""
    table, limits = transaction.cookies, JarLimits()
    in_store = table.count(user_context_id)
    if in_store < limits.per_site:
        return []
    if in_store >= limits.per_store:
        return table.load(user_context_id)
    site = default_public_suffixes().site(cookie.domain)
    return (
        table.find(user_context_id, below=site) if table.count(user_context_id, below=site) >= limits.per_site else []
    )


def end_session(transaction: Transaction, user_context_id: int) -> None:
    """Delete the session cookies of a store."""
    ended = [cookie for cookie in map(cookie_of, transaction.cookies.load(user_context_id)) if cookie.expires is None]
    if ended:
        write_changes(transaction, user_context_id, [JarChange(cookie, True, ChangeCause.EXPLICIT) for cookie in ended])


def load_rows(transaction: Transaction, user_context_id: int) -> list[CookieRow]:
    """The cookie rows of a store. Raises InvalidIdentity if its identity does not exist."""
    rows = transaction.cookies.load(user_context_id)
    if not rows:  # cookies are deleted with their identity, so a store with cookies has one
        expect_identity(transaction, user_context_id)
    return rows


def expect_identity(transaction: Transaction, user_context_id: int) -> None:
    """Raise InvalidIdentity if the identity of a store does not exist."""
    if user_context_id and transaction.identities.get(user_context_id) is None:
        raise InvalidIdentity(cookie_store_id_of(user_context_id))


def jar_of(rows: Iterable[CookieRow]) -> Jar:
    """A jar with the cookies of these rows."""
    jar = Jar()
    jar.load(map(cookie_of, rows))
    return jar


def row_key(key: CookieKey) -> CookieRowKey:
    """The primary key of a cookie."""
    return key.domain, int(key.host_only), key.path, key.name, _partition_text(key.partition)


def row_of(cookie: Cookie) -> CookieRow:
    """The row of a cookie."""
    return (
        *row_key(cookie.key),
        cookie.value,
        int(cookie.secure),
        int(cookie.http_only),
        cookie.same_site.value,
        cookie.expires,
        cookie.sequence,
        cookie.created,
        cookie.last_access,
    )


def cookie_of(row: CookieRow) -> Cookie:
    """The cookie stored in a row."""
    domain, host_only, path, name, partition, value, secure, http_only, same_site, expires, sequence, created, used = (
        row
    )
    return Cookie(
        name=name,
        value=value,
        domain=domain,
        path=path,
        host_only=host_only == 1,
        secure=secure == 1,
        http_only=http_only == 1,
        same_site=_SAME_SITE[same_site],
        expires=expires,
        partition=_partition(partition) if partition else None,
        sequence=sequence,
        created=created,
        last_access=used,
    )


def _partition_text(partition: Partition | None) -> str:
    """`https://site.example`, with a ^ at the end for a cross-site ancestor; empty without a partition."""
    return f"{partition.top_level_site}{'^' if partition.cross_site_ancestor else ''}" if partition else ""


def _partition(text: str) -> Partition | None:
    return Partition(text.removesuffix("^"), text.endswith("^")) if text else None


_encode = msgspec.json.Encoder().encode
decode_change = msgspec.json.Decoder(tuple[int, bool, str, CookieRow]).decode
"""Decode a COOKIE_CHANGED record: userContextId, removed, cause, row."""
