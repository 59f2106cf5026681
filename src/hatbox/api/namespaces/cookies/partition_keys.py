"""The partitionKey of the cookies API: what it means beside a URL, and how it is shown. Knows no cookie store.

A partition of another site always has a cross-site ancestor, whether or not the cookie says so. So keys are compared as
they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.cookies.cookie import Cookie, Partition
from hatbox.cookies.partitions import canonical_partition, is_foreign
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.errors import ApiError
from hatbox.urls.url import Url, parse_url

__all__ = [
    "Accepts",
    "PartitionKey",
    "PartitionKeyArgument",
    "is_exact_partition",
    "is_matching_partition",
    "partition_key",
    "resolve_partition",
]

PartitionKeyArgument: TypeAlias = Mapping[str, Any] | None
"""A partitionKey as a script gives it, in normal form."""

_SCHEMES: Final = ("http", "https")


class PartitionKey(NamedTuple):
    """The partition of a cookie, as it is shown."""

    top_level_site: str
    has_cross_site_ancestor: bool


Accepts: TypeAlias = Callable[[PartitionKey | None], bool]


def partition_key(cookie: Cookie) -> PartitionKey | None:
    """The key of a cookie's partition; None if it has none."""
    if cookie.partition is None:
        return None
    return PartitionKey(*canonical_partition(cookie.partition, cookie.domain))


def resolve_partition(given: PartitionKeyArgument, url: Url | None) -> Partition | None:
    """The partition that a key means beside a URL; None if it means none."""
    if given is None or not (site := _site(given)):
        return None
    if url is None:
        raise _invalid()
    if given["hasCrossSiteAncestor"] is False and is_foreign(url.host, site):
        raise _invalid()
    return canonical_partition(Partition(site, bool(given["hasCrossSiteAncestor"])), url.host)


def is_exact_partition(given: PartitionKeyArgument, url: Url | None) -> Accepts:
    """Accepts what is in the one partition that a key means beside a URL."""
    partition = resolve_partition(given, url)
    wanted = PartitionKey(*partition) if partition else None
    return lambda key: key == wanted


def is_matching_partition(given: PartitionKeyArgument) -> Accepts:
    """Accepts what is in any of the partitions that a key means without a URL; an empty key means all, and none."""
    if given is None:
        return lambda key: key is None
    site, ancestor = _site(given), given["hasCrossSiteAncestor"]
    if site is None:
        return lambda _: True
    if not site:
        return lambda key: key is None
    return lambda key: (
        key is not None and key.top_level_site == site and ancestor in (None, key.has_cross_site_ancestor)
    )


def _site(given: Mapping[str, Any]) -> str | None:
    """The site of a key: empty where it says that there is none, None where it says nothing."""
    text = given["topLevelSite"]
    if text is None and given["hasCrossSiteAncestor"] is not None:
        raise _invalid()
    if not text:
        return text  # type: ignore[no-any-return]
    url = parse_url(text)
    if url is None or url.scheme not in _SCHEMES:
        raise _invalid()
    return f"{url.scheme}://{default_public_suffixes().site(url.host)}"


def _invalid() -> ApiError:
    return ApiError("Invalid value for 'partitionKey' attribute")
