"""The partitionKey of the cookies API: arguments and results. Knows no cookie store.

A partition of another site always has a cross-site ancestor, even if the cookie does not say so. So partitions are
compared in the form that scripts see.
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
    "PartitionFilter",
    "PartitionKey",
    "PartitionKeyArgument",
    "exact_partition",
    "matching_partitions",
    "partition_key",
    "resolve_partition",
]

PartitionKeyArgument: TypeAlias = Mapping[str, Any] | None
"""A normalized partitionKey argument."""

_SCHEMES: Final = ("http", "https")


class PartitionKey(NamedTuple):
    """cookies.PartitionKey, as scripts see it."""

    top_level_site: str
    has_cross_site_ancestor: bool


PartitionFilter: TypeAlias = Callable[[PartitionKey | None], bool]


def partition_key(cookie: Cookie) -> PartitionKey | None:
    """The partition key of a cookie; None if it is not partitioned."""
    if cookie.partition is None:
        return None
    return PartitionKey(*canonical_partition(cookie.partition, cookie.domain))


def resolve_partition(argument: PartitionKeyArgument, url: Url | None) -> Partition | None:
    """The partition of a partitionKey argument and URL; None if it names none. Raises ApiError."""
    if argument is None or not (site := _site(argument)):
        return None
    if url is None:
        raise _invalid()
    if argument["hasCrossSiteAncestor"] is False and is_foreign(url.host, site):
        raise _invalid()
    return canonical_partition(Partition(site, bool(argument["hasCrossSiteAncestor"])), url.host)


def exact_partition(argument: PartitionKeyArgument, url: Url | None) -> PartitionFilter:
    """A filter for the one partition of a partitionKey argument and URL."""
    partition = resolve_partition(argument, url)
    expected = PartitionKey(*partition) if partition else None
    return lambda key: key == expected


def matching_partitions(argument: PartitionKeyArgument) -> PartitionFilter:
    """A filter for the partitions of a partitionKey argument without URL. An empty key matches all cookies."""
    if argument is None:
        return lambda key: key is None
    site, ancestor = _site(argument), argument["hasCrossSiteAncestor"]
    if site is None:
        return lambda _: True
    if not site:
        return lambda key: key is None
    return lambda key: (
        key is not None and key.top_level_site == site and ancestor in (None, key.has_cross_site_ancestor)
    )


def _site(argument: Mapping[str, Any]) -> str | None:
    """The topLevelSite of an argument: empty for unpartitioned cookies, None if missing."""
    text = argument["topLevelSite"]
    if text is None and argument["hasCrossSiteAncestor"] is not None:
        raise _invalid()
    if not text:
        return text  # type: ignore[no-any-return]
    url = parse_url(text)
    if url is None or url.scheme not in _SCHEMES:
        raise _invalid()
    return f"{url.scheme}://{default_public_suffixes().site(url.host)}"


def _invalid() -> ApiError:
    return ApiError("Invalid value for 'partitionKey' attribute")
