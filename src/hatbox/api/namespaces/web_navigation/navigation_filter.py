"""Filters of webNavigation listeners (events.UrlFilter): one of the filters must match in all of its properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.urls.url import Url, parse_url

__all__ = ["navigation_args"]

_PORTS: Final = {"http": 80, "https": 443}


def navigation_args(_: Caller, details: Mapping[str, Any], filter_: Mapping[str, Any] | None) -> Sequence[Any] | None:
    """(details), if the filter of the listener matches the URL."""
    if filter_ is None:
        return (details,)
    url = parse_url(details["url"])
    return (details,) if url is not None and any(_matches(url, url_filter) for url_filter in filter_["url"]) else None


def _matches(url: Url, url_filter: Mapping[str, Any]) -> bool:
    parts = {
        # As in Firefox, with a leading dot, so that ".site.example" also matches "site.example".
        "host": f".{url.host}",
        "path": url.path,
        "query": url.query.removeprefix("?"),
        "url": url._replace(fragment="").text,
    }
    for name, part in parts.items():
        bare = part.removeprefix(".") if name == "host" else part
        for suffix, test in (
            ("Contains", part.__contains__),
            ("Equals", bare.__eq__),
            ("Prefix", bare.startswith),
            ("Suffix", part.endswith),
        ):
            text = url_filter[name + suffix]
            if text is not None and not test(text):
                return False
    if url_filter["schemes"] is not None and url.scheme not in url_filter["schemes"]:
        return False
    return url_filter["ports"] is None or _in_ports(url, url_filter["ports"])


def _in_ports(url: Url, ports: Sequence[int | Sequence[int]]) -> bool:
    port = int(url.port_suffix[1:]) if url.port_suffix else _PORTS.get(url.scheme)
    if port is None:
        return False
    return any(port == each if isinstance(each, int) else each[0] <= port <= each[1] for each in ports)
