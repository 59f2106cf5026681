"""Which loads a listener of webNavigation wants to hear of: filters of URLs, one of which must fit in all it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.urls.url import Url, parse_url

__all__ = ["navigation_args"]

_PORTS: Final = {"http": 80, "https": 443}


def navigation_args(_: Caller, load: Mapping[str, Any], wishes: Mapping[str, Any] | None) -> Sequence[Any] | None:
    """(details), if the listener wants to hear of the URL."""
    if wishes is None:
        return (load,)
    url = parse_url(load["url"])
    return (load,) if url is not None and any(_fits(url, each) for each in wishes["url"]) else None


def _fits(url: Url, wanted: Mapping[str, Any]) -> bool:
    parts = {
        # As in Firefox: a dot before the host, so that ".site.example" is in "site.example" too.
        "host": f".{url.host}",
        "path": url.path,
        "query": url.query.removeprefix("?"),
        "url": url._replace(fragment="").text,
    }
    for name, part in parts.items():
        bare = part.removeprefix(".") if name == "host" else part
        for how, holds in (
            ("Contains", part.__contains__),
            ("Equals", bare.__eq__),
            ("Prefix", bare.startswith),
            ("Suffix", part.endswith),
        ):
            text = wanted[name + how]
            if text is not None and not holds(text):
                return False
    if wanted["schemes"] is not None and url.scheme not in wanted["schemes"]:
        return False
    return wanted["ports"] is None or _in_ports(url, wanted["ports"])


def _in_ports(url: Url, ports: Sequence[int | Sequence[int]]) -> bool:
    port = int(url.port_suffix[1:]) if url.port_suffix else _PORTS.get(url.scheme)
    if port is None:
        return False
    return any(port == each if isinstance(each, int) else each[0] <= port <= each[1] for each in ports)
