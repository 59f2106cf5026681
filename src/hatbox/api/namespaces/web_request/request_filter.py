"""webRequest.RequestFilter, and the host permissions that a listener needs for a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.urls.match_patterns import UrlPattern, parse_url_pattern
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import Url, parse_url
from hatbox.web_requests.request_model import RequestSnapshot

__all__ = ["matches", "may_observe"]

_EXTENSION: Final = "moz-extension://"
_MAX_CACHED: Final = 2**20  # characters of all patterns of a filter


def matches(
    caller: Caller, snapshot: RequestSnapshot, filter_: Mapping[str, Any], *, of_any_page: bool = False
) -> bool:
    """Whether a caller has permission for a request and its filter matches. Uses the current permissions.

    It needs permission for the requesting page too, unless `of_any_page`: proxies are chosen for all pages.
    """
    url = parse_url(snapshot.url)
    return (
        url is not None
        and may_observe(caller, snapshot, of_any_page=of_any_page)
        and _matches_urls(url, filter_["urls"])
        and (filter_["types"] is None or snapshot.type in filter_["types"])
        and filter_["tabId"] in (None, snapshot.place.tab_id)
        and filter_["windowId"] in (None, snapshot.place.window_id)
        and not filter_["incognito"]
    )


def may_observe(caller: Caller, snapshot: RequestSnapshot, *, of_any_page: bool = False) -> bool:
    """Whether a caller has the host permissions for a request, now."""
    url = parse_url(snapshot.url)
    if url is None or is_protected_page(url) or not caller.hosts.allow_url(url.scheme, url.host):
        return False
    return of_any_page or snapshot.document_url is None or _has_access(caller, snapshot.document_url)


def _has_access(caller: Caller, page: str) -> bool:
    """Whether a caller has access to a page. No extension has access to pages of another one."""
    if page.startswith(_EXTENSION):
        return page.startswith(f"{caller.context.origin}/")
    url = parse_url(page)
    return url is not None and not is_protected_page(url) and caller.hosts.allow_url(url.scheme, url.host)


def _matches_urls(url: Url, texts: Sequence[str]) -> bool:
    patterns = _cached_patterns(tuple(texts)) if sum(map(len, texts)) <= _MAX_CACHED else _patterns(texts)
    return any(_matches(pattern, url) for pattern in patterns)


def _matches(pattern: UrlPattern, url: Url) -> bool:
    """Whether a pattern matches a URL including its fragment, which only webRequest in Firefox does."""
    if not pattern.hosts.matches(url.scheme, url.host):
        return False
    return pattern.path is None or pattern.path.matches(url.path + url.query + url.fragment)


def _patterns(texts: Sequence[str]) -> tuple[UrlPattern, ...]:
    """The parsed patterns. As in Firefox, none if one is invalid: such a listener is never called."""
    patterns = [parse_url_pattern(text) for text in texts]
    return () if None in patterns else tuple(pattern for pattern in patterns if pattern is not None)


_cached_patterns = lru_cache(maxsize=64)(_patterns)
