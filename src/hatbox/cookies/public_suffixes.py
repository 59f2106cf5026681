"""Public suffixes and registrable domains. Knows the list, not cookies.

The private section counts (`github.io`), and so does the rule that every unknown top-level name is a suffix.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple, Protocol

from hatbox.urls.hosts import is_ip

__all__ = ["HostInfo", "PublicSuffixes", "SuffixList", "default_public_suffixes"]

_MAX_CACHED_LENGTH: Final = 64  # characters


class SuffixList(Protocol):
    """The interface of a public suffix list, such as `publicsuffixlist.PublicSuffixList`."""

    def publicsuffix(self, domain: str) -> str | None:
        """The public suffix of a lower-case punycode name."""


class HostInfo(NamedTuple):
    """The domains of a host. `site` is its registrable domain, or the host for an IP address or public suffix."""

    site: str
    domains: tuple[str, ...]  # the host, then its parent domains up to the site
    is_suffix: bool


class PublicSuffixes:
    """HostInfo of hosts, cached: a list lookup takes microseconds, a dict lookup a fraction of one."""

    def __init__(self, suffix_list: SuffixList, remembered: int = 16384) -> None:
        self._list = suffix_list
        self._cached = lru_cache(maxsize=remembered)(self._find_host_info)

    def host_info(self, host: str) -> HostInfo:
        """The HostInfo of a canonical host. Long hosts are not cached: they may have a hundred domains."""
        return self._cached(host) if len(host) <= _MAX_CACHED_LENGTH else self._find_host_info(host)

    def site(self, host: str) -> str:
        """The site of a canonical host."""
        return self.host_info(host).site

    def is_suffix(self, host: str) -> bool:
        """Whether a canonical host is a public suffix."""
        return self.host_info(host).is_suffix

    def _find_host_info(self, host: str) -> HostInfo:
        if not host or is_ip(host):
            return HostInfo(host, (host,), is_suffix=False)
        name = host.removesuffix(".")
        root = host[len(name) :]
        suffix = self._list.publicsuffix(name) or name.rpartition(".")[2]
        if suffix == name:
            return HostInfo(host, (host,), is_suffix=True)
        labels = name.split(".")
        parents = len(labels) - suffix.count(".") - 1
        domains = tuple(".".join(labels[first:]) + root for first in range(parents))
        return HostInfo(domains[-1], domains, is_suffix=False)


@cache
def default_public_suffixes() -> PublicSuffixes:
    """The installed list, loaded when first needed and shared by all jars."""
    from publicsuffixlist import PublicSuffixList  # takes 50 ms to load

    return PublicSuffixes(PublicSuffixList())
