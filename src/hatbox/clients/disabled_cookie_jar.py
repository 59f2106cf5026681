"""A cookie jar that stays empty, for clients whose cookies are in the profile."""

from __future__ import annotations

from http.cookiejar import Cookie, CookieJar
from typing import Any, NoReturn

from hatbox.errors import CookiesNotAllowed

__all__ = ["DisabledCookieJar"]


class DisabledCookieJar(CookieJar):
    """A jar that stays empty: it ignores Set-Cookie, and rejects cookies that are put in."""

    def add_cookie_header(self, request: Any) -> None:
        """Do nothing."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Do nothing."""

    def set_cookie(self, cookie: Cookie) -> NoReturn:
        """Raise CookiesNotAllowed."""
        raise CookiesNotAllowed(f'the cookie "{cookie.name}" was put into a client\'s own jar')

    def set_cookie_if_ok(self, cookie: Cookie, _request: Any) -> NoReturn:
        """Raise CookiesNotAllowed."""
        self.set_cookie(cookie)
