"""The curl command of a site: the host that has the cookies, its scheme, and the settings of the identity."""

from __future__ import annotations

from collections import Counter
from typing import Final

from hatbox.api.services import Services
from hatbox.clients.curl_command import curl_command
from hatbox.cookies.cookie import Cookie
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.request_urls import parse_request_url
from hatbox.cookies.sign_in_cookies import looks_like_sign_in
from hatbox.errors import ApiError
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.settings import NO_SETTINGS
from hatbox.urls.hosts import is_trustworthy_host
from hatbox.urls.url import parse_url

__all__ = ["curl_for"]

_SIGN_IN_WEIGHT: Final = 100


async def curl_for(services: Services, cookie_store_id: str, host: str, url: str | None) -> str:
    """The command for a URL of a site, by default its start page. Raises ApiError if the site gets no cookies."""
    store = await services.cookies.open(cookie_store_id)
    if url is None:
        url = _start_page(host, await store.cookies())
    elif default_public_suffixes().site(parse_request_url(url).host) != host or parse_url(url) is None:
        raise ApiError(f"{url[:80]!r} is not a URL of {host}. Use https://{host}/")
    cookies = await store.header(url)
    if not cookies:
        raise ApiError(f"No cookies are sent to {url}")
    settings = NO_SETTINGS
    if cookie_store_id != DEFAULT_COOKIE_STORE_ID:
        settings = await services.identities.settings_cache.current(cookie_store_id)
    return curl_command(url, cookies, settings)


def _start_page(site: str, cookies: list[Cookie]) -> str:
    """The start page of the host of a site that gets the cookies of its sign-in. Partitioned cookies do not count."""
    site_of = default_public_suffixes().site
    found = [each for each in cookies if each.partition is None and site_of(each.domain) == site]
    if not found:
        raise ApiError(f"No cookies of {site} are sent with a request that is not of a page of another site")
    weights = Counter({site: 1})
    shared = 0
    for cookie in found:
        weight = _SIGN_IN_WEIGHT if looks_like_sign_in(cookie.name, cookie.http_only) else 1
        if not cookie.host_only and cookie.domain == site:
            shared += weight  # every host of the site gets it
        else:
            weights[cookie.domain] += weight
    if shared:
        weights[site] += 1
    host = max(weights, key=lambda each: (weights[each], each == site, each))
    is_local = is_trustworthy_host(host) and not any(each.secure for each in found)
    return f"{'http' if is_local else 'https'}://{host}/"
