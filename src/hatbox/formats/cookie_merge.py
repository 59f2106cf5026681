"""Merges imported cookies into a store, with the rules and limits of the cookie engine.

Pure: knows no format and no profile. Whatever is decided here comes out the same the second time, also later: what was
left out once is left out again, and a time that was cut stays as it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import floor, inf
from typing import Final, TypeAlias

import msgspec

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange
from hatbox.cookies.eviction import JarLimits, within_limits
from hatbox.cookies.parse import SetCookie
from hatbox.cookies.partitions import canonical_partition
from hatbox.cookies.prefixes import satisfies_prefix
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.storage_model import check_fields, same_content
from hatbox.cookies.use_times import time_without_use
from hatbox.errors import CookieRejected
from hatbox.formats.base import ImportReport
from hatbox.urls.hosts import canonical_host

__all__ = ["merge"]

LIMITS: Final = JarLimits()
EXPIRED: Final = "expired cookies"
INVALID: Final = "cookies that browsers reject (for their host, size, characters or prefix)"
OVER_LIMIT: Final = (
    f"cookies above the limits of a store ({LIMITS.per_site} per site, {LIMITS.per_store} in total); "
    "the newest were stored"
)
EVICTED: Final = "stored cookies that were evicted for imported ones"

_MICRO: Final = 1_000_000
_CUT: Final = 2**-10  # a fraction of a second that marks a shortened expiry time
_SITE: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^\s^/?#]+")

_ByKey: TypeAlias = dict[CookieKey, Cookie]


def merge(
    known: Iterable[Cookie], given: Iterable[Cookie], now: float, report: ImportReport, limits: JarLimits = LIMITS
) -> list[JarChange]:
    """The changes of an import to a store with these cookies. Counts the results in the report."""
    known = list(known)
    live = {cookie.key: cookie for cookie in known if not cookie.expired(now)}
    expired = {cookie.key: cookie for cookie in known if cookie.expired(now)}
    wanted = _wanted(given, now, report)
    staying = _retained(live, wanted, limits)
    sequence = max([int(now * _MICRO), *(cookie.sequence + 1 for cookie in known)])
    changes: list[JarChange] = []
    for key, cookie in wanted.items():
        old = live.get(key)
        if key not in staying:
            report.skipped[OVER_LIMIT] += 1
        elif old is not None and _is_same(old, cookie):
            report.cookies_unchanged += 1
        else:
            report.cookies_new += old is None
            report.cookies_changed += old is not None
            if old is not None:
                changes.append(JarChange(old, True, ChangeCause.OVERWRITE))
            elif key in expired:
                changes.append(JarChange(expired[key], True, ChangeCause.EXPIRED))
            changes.append(
                JarChange(_placed(_cut(cookie, now, limits), old, now, sequence), False, ChangeCause.EXPLICIT)
            )
            sequence += 1
    evicted = [cookie for key, cookie in live.items() if key not in staying]
    if pushed_out := sum(cookie.key not in wanted for cookie in evicted):
        report.dropped[EVICTED] += pushed_out
    return changes + [JarChange(cookie, True, ChangeCause.EVICTED) for cookie in evicted]


def _wanted(given: Iterable[Cookie], now: float, report: ImportReport) -> _ByKey:
    """The valid cookies; of two with one key the last counts."""
    wanted: _ByKey = {}
    for cookie in {each.key: each for each in map(_canonical, given)}.values():
        if cookie.expired(now):
            report.skipped[EXPIRED] += 1
        elif not _is_possible(cookie):
            report.skipped[INVALID] += 1
        else:
            wanted[cookie.key] = cookie
    return wanted


def _canonical(cookie: Cookie) -> Cookie:
    if cookie.partition is None:
        return cookie
    return msgspec.structs.replace(cookie, partition=canonical_partition(cookie.partition, cookie.domain))


def _is_possible(cookie: Cookie) -> bool:
    """Whether a response could have set this cookie: all rules except those about its sender."""
    shared = "" if cookie.host_only else cookie.domain
    fields = SetCookie(cookie.name, cookie.value, domain=shared, path=cookie.path)
    try:
        check_fields(fields)
    except CookieRejected:
        return False
    return (
        bool(cookie.domain)
        and canonical_host(cookie.domain) == cookie.domain
        and not (shared and default_public_suffixes().is_suffix(shared))
        and (bool(cookie.name) or "=" not in cookie.value)
        and (cookie.partition is None or _SITE.fullmatch(cookie.partition.top_level_site) is not None)
        and satisfies_prefix(
            cookie.name,
            cookie.value,
            secure=cookie.secure,
            http_only=cookie.http_only,
            host_only=cookie.host_only,
            path_attribute=cookie.path,
        )
    )


def _retained(live: _ByKey, wanted: _ByKey, limits: JarLimits) -> set[CookieKey]:
    """The keys of the stored and imported cookies that are retained."""
    if len(live | wanted) <= min(limits.per_site, limits.per_store):
        return {*live, *wanted}
    # Importing the same file twice must change nothing: the rank of an imported cookie depends neither on the clock nor
    # on shortened expiry times, so that a cookie that was left out stays out.
    ranks: dict[CookieKey, tuple[object, ...]] = {
        key: (cookie.secure, cookie.last_access, cookie.sequence) for key, cookie in live.items()
    }
    for place, (key, cookie) in enumerate(wanted.items()):
        if _has_times(cookie):
            used = max(cookie.last_access, live[key].last_access if key in live else 0)
            ranks[key] = cookie.secure, used, cookie.sequence
        else:  # the newest, in the order of the source
            ranks[key] = cookie.secure, inf, place
    best_first = sorted(ranks, key=lambda key: (ranks[key], key[:4], key.partition or ()), reverse=True)
    return set(within_limits(best_first, limits, default_public_suffixes()))


def _has_times(cookie: Cookie) -> bool:
    return cookie.created > 0


def _is_same(old: Cookie, cookie: Cookie) -> bool:
    """Whether the cookie is stored already, possibly with a shortened expiry time."""
    if old.expires is not None and old.expires % 1 == _CUT and cookie.expires is not None:
        cookie = msgspec.structs.replace(cookie, expires=min(old.expires, cookie.expires))
    return same_content(old, cookie)


def _cut(cookie: Cookie, now: float, limits: JarLimits) -> Cookie:
    """The cookie with the expiry time limited as by the engine."""
    latest = now + limits.lifetime
    if cookie.expires is None or cookie.expires <= latest:
        return cookie
    return msgspec.structs.replace(cookie, expires=floor(latest) - 1 + _CUT)


def _placed(cookie: Cookie, old: Cookie | None, now: float, sequence: int) -> Cookie:
    """The cookie with valid times: from its source, else from the cookie that it replaces, else now."""
    if _has_times(cookie):
        sequence = min(max(cookie.sequence, 0), int(now * _MICRO))
        created = min(cookie.created, now)
        used = max(min(cookie.last_access, now), old.last_access if old else 0)
    elif old is not None:
        sequence, created, used = old.sequence, old.created, time_without_use(now)
    else:
        created, used = now, time_without_use(now)
    return msgspec.structs.replace(cookie, sequence=sequence, created=created, last_access=used)
