"""The jar that a client gets in the place of its own. Knows neither identities nor clients."""

from __future__ import annotations

from http.cookiejar import Cookie, CookieJar
from typing import Any, NoReturn

from hatbox.errors import CookiesNotAllowed

__all__ = ["DisabledCookieJar"]


class DisabledCookieJar(CookieJar):
    """A jar that is empty for good: it passes over what answers bring, and refuses what anybody puts in."""

    def add_cookie_header(self, request: Any) -> None:
        """Add nothing."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Take nothing."""

    def set_cookie(self, cookie: Cookie) -> NoReturn:
        """Refuse."""
        raise CookiesNotAllowed(f'the cookie "{cookie.name}" was put into a client\'s own jar')

    def set_cookie_if_ok(self, cookie: Cookie, _request: Any) -> NoReturn:
        """Refuse."""
        self.set_cookie(cookie)
