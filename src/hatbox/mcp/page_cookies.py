"""Reads the cookies that a page cannot read itself, so that their values can be removed from what an agent gets.

Values of earlier reads are remembered: a page may show one that the site has changed since.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Page

from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.engines.chromium.sessions import within
from hatbox.mcp.hidden_values import HiddenValues
from hatbox.mcp.response_secrets import HIDDEN_COOKIE

__all__ = ["PageCookies"]

_MAX_REMEMBERED: Final = 50_000  # characters of values that the site has changed since
_MAX_ORIGIN: Final = 4_000  # characters of a URL; those of data: have no host


class PageCookies:
    """The HttpOnly cookies of the sites of one page and of its frames."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._values: tuple[str, ...] = ()
        self._hidden = HiddenValues((), HIDDEN_COOKIE)

    async def read(self) -> None:
        """Read the cookies of the browser, which are newer than those of the profile. Raises PlaywrightError."""
        site_of = default_public_suffixes().site
        sites = {site_of(_host_of(frame.url)) for page in self._shown() for frame in page.frames}
        found = [
            each["value"].strip('"')
            for each in await within(self._page.context.cookies())
            if each["httpOnly"] and site_of(each["domain"].lstrip(".")) in sites
        ]
        current = set(found)
        earlier = [each for each in self._values if each not in current]
        while sum(map(len, earlier)) > _MAX_REMEMBERED:
            earlier = earlier[len(earlier) // 2 + 1 :]
        values = (*earlier, *sorted(current))
        if values != self._values:
            self._values = values
            self._hidden = HiddenValues(values, HIDDEN_COOKIE)

    def _shown(self) -> list[Page]:
        """The page. One without a host, such as about:blank, has what another page has written into it."""
        return [self._page] if _host_of(self._page.url) else self._page.context.pages

    def hide(self, text: str) -> str:
        """The text without the values that were read."""
        return self._hidden.hide(text)

    @property
    def longest(self) -> int:
        """Characters of the longest spelling of a value."""
        return self._hidden.longest


def _host_of(url: str) -> str:
    """The host; empty for an invalid URL, and for one without a host."""
    try:
        host = urlsplit(url.removeprefix("blob:")[:_MAX_ORIGIN]).hostname or ""
    except ValueError:
        return ""
    return f"[{host}]" if ":" in host else host  # IPv6, as in the domains of cookies
