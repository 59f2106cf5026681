"""Which requests a listener hears of: those that its filter names, to hosts that its caller has permission for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.urls.match_patterns import UrlPattern, parse_url_pattern
from hatbox.urls.url import Url, parse_url
from hatbox.web_requests.request_model import RequestSnapshot

__all__ = ["matches"]

_EXTENSION: Final = "moz-extension://"
_LONGEST_CACHED: Final = 2**20  # characters of all patterns of a filter together


def matches(caller: Caller, moment: RequestSnapshot, wishes: Mapping[str, Any], *, of_any_page: bool = False) -> bool:
    """Whether a caller has permission for a request and its filter matches. Uses the current permissions.

    It needs permission for the requesting page too, unless `of_any_page`: proxies are chosen for all pages.
    """
    url = parse_url(moment.url)
    if url is None or not caller.hosts.allow_url(url.scheme, url.host):
        return False
    if not of_any_page and moment.document_url is not None and not _may_enter(caller, moment.document_url):
        return False
    return (
        _is_wanted(url, wishes["urls"])
        and (wishes["types"] is None or moment.type in wishes["types"])
        and wishes["tabId"] in (None, moment.place.tab_id)
        and wishes["windowId"] in (None, moment.place.window_id)
        and not wishes["incognito"]
    )


def _may_enter(caller: Caller, page: str) -> bool:
    """Whether a caller has access to a page. No extension has access to pages of another one."""
    if page.startswith(_EXTENSION):
        return page.startswith(f"{caller.context.origin}/")
    url = parse_url(page)
    return url is not None and caller.hosts.allow_url(url.scheme, url.host)


def _is_wanted(url: Url, texts: Sequence[str]) -> bool:
    patterns = _cached_patterns(tuple(texts)) if sum(map(len, texts)) <= _LONGEST_CACHED else _patterns(texts)
    return any(_matches(pattern, url) for pattern in patterns)


def _matches(pattern: UrlPattern, url: Url) -> bool:
    """Whether a pattern matches all of a URL: here, and nowhere else in Firefox, the fragment counts too."""
    if not pattern.hosts.matches(url.scheme, url.host):
        return False
    return pattern.path is None or pattern.path.matches(url.path + url.query + url.fragment)


def _patterns(texts: Sequence[str]) -> tuple[UrlPattern, ...]:
    """The patterns; none if one of them is no pattern, as in Firefox: such a listener is never called."""
    patterns = [parse_url_pattern(text) for text in texts]
    return () if None in patterns else tuple(pattern for pattern in patterns if pattern is not None)


_cached_patterns = lru_cache(maxsize=64)(_patterns)
