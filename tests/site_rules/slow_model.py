"""The order of site rules, written down literally: tries every rule, and sorts. For comparison with RuleIndex.

It reads a pattern of the grammar that the property tests generate: lower-case hosts, paths without percent signs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hatbox import SiteRule

__all__ = ["slow_winner"]


class Parts(NamedTuple):
    scheme: str
    host: str
    port: str
    path: str


def slow_winner(rules: Sequence[SiteRule], scheme: str, host: str, port: int, path: str) -> SiteRule | None:
    """The winning rule for a URL."""
    sites = []
    for rule in rules:
        if rule.pattern.startswith("regex:"):
            continue
        parts = split(rule.pattern)
        if (
            parts.scheme in ("", scheme)
            and host_matches(parts.host, host)
            and parts.port in ("", str(port))
            and re.fullmatch(re.escape(parts.path).replace(r"\*", ".*") if parts.path else ".*", path)
        ):
            sites.append((key(parts, rule.pattern), rule))
    if sites:
        return min(sites, key=lambda each: each[0])[1]
    default = {"http": 80, "https": 443}[scheme]
    url = f"{scheme}://{host}{'' if port == default else f':{port}'}{path}"
    for rule in rules:
        if rule.pattern.startswith("regex:") and re.search(rule.pattern.removeprefix("regex:"), url):
            return rule
    return None


def split(pattern: str) -> Parts:
    match = re.fullmatch(r"(?:(https?)://)?([^:/]+)(?::([0-9]+))?(/.*)?", pattern)
    assert match, pattern
    path = match[4] or ""
    return Parts(match[1] or "", match[2], match[3] or "", "" if path == "/*" else path)


def host_matches(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    return host == pattern


def key(parts: Parts, pattern: str) -> tuple[object, ...]:
    is_wildcard = parts.host.startswith("*")
    suffix = "" if parts.host == "*" else parts.host.removeprefix("*.")
    return (
        is_wildcard,
        -len(suffix),
        not parts.port,
        -len(parts.path.replace("*", "")),
        parts.path.count("*") if parts.path else 1,
        not parts.scheme,
        pattern.removesuffix("/*") if not parts.path else pattern,
    )
