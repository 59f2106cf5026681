"""Public suffixes: where one site ends and the next begins. Knows the list, and nothing of cookies.

The private section counts (`github.io`), and so does the rule that every unknown top-level name is a suffix.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple, Protocol

from hatbox.urls.hosts import is_ip

__all__ = ["HostInfo", "PublicSuffixes", "SuffixList", "default_public_suffixes"]

_LONGEST_CACHED: Final = 64  # characters


class SuffixList(Protocol):
    """What is asked of a public suffix list; `publicsuffixlist.PublicSuffixList` is one."""

    def publicsuffix(self, domain: str) -> str | None:
        """The public suffix of a lower-case punycode name."""


class HostInfo(NamedTuple):
    """Where a host stands. `site` is its registrable domain, or itself if it is an address or a suffix."""

    site: str
    domains: tuple[str, ...]  # whose cookies it may see: itself first, then its parents up to the site
    is_suffix: bool


class PublicSuffixes:
    """Places of hosts, remembered, because a list takes microseconds for what a dict does in a fraction of one."""

    def __init__(self, suffix_list: SuffixList, remembered: int = 16384) -> None:
        self._list = suffix_list
        self._cached = lru_cache(maxsize=remembered)(self._place)

    def place(self, host: str) -> HostInfo:
        """The place of a canonical host. A host with a hundred labels has a hundred domains: too many to cache."""
        return self._cached(host) if len(host) <= _LONGEST_CACHED else self._place(host)

    def site(self, host: str) -> str:
        """The site that a canonical host belongs to."""
        return self.place(host).site

    def is_suffix(self, host: str) -> bool:
        """Whether a canonical host is a public suffix, so that no cookie may be shared below it."""
        return self.place(host).is_suffix

    def _place(self, host: str) -> HostInfo:
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
    """The installed list, loaded when it is first needed and shared by all jars."""
    from publicsuffixlist import PublicSuffixList  # takes 50 ms to load

    return PublicSuffixes(PublicSuffixList())
