"""Partition keys (CHIPS): cross-site checks and canonical spelling. Pure text.

A host that is cross-site to the top-level page has a cross-site ancestor, that page. Chromium stores this bit with each
cookie; Firefox only where it is not implied: for a frame of the top-level site within a cross-site frame.
"""

from __future__ import annotations

import re
from typing import Final

from hatbox.cookies.cookie import Partition
from hatbox.cookies.domains import domain_matches

__all__ = ["canonical_partition", "is_foreign"]

_PORT: Final = re.compile(r":[0-9]+$")


def is_foreign(host: str, top_level_site: str) -> bool:
    """Whether a host is cross-site to the top-level page."""
    return not domain_matches(host, _PORT.sub("", top_level_site.partition("://")[2]))


def canonical_partition(partition: Partition, host: str) -> Partition:
    """The partition of a cookie of this host in its canonical spelling."""
    crossed = partition.cross_site_ancestor or is_foreign(host, partition.top_level_site)
    return Partition(partition.top_level_site, crossed)
