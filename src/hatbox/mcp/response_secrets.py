"""Removes what an agent must not see from the responses of fetch: values of cookies and of password fields. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus, unquote

from hatbox.mcp.password_redaction import HIDDEN, TooManyPasswords, without_passwords

__all__ = ["HIDDEN_COOKIE", "MIN_COOKIE", "CookieValues", "without_password_inputs"]

HIDDEN_COOKIE: Final = "(a cookie is omitted)"
MIN_COOKIE: Final = 8
"""Characters of the shortest value that is removed: shorter ones are ordinary words and numbers."""

# As in HTML, a quote that is not closed extends to the end, so the text is read once.
_INPUT: Final = re.compile(r"<input\b(?>[^>\"'=]+|=\s*+\"[^\"]*+\"?|=\s*+'[^']*+'?|[\"'=])*+>?", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([^\s\"'<>/=]++)\s*+=\s*+(\"[^\"]*+\"?|'[^']*+'?|[^\s>]++)")
_NAMES: Final = ("type", "name", "id", "autocomplete")
_SECRET: Final = re.compile(r"passw|passcode|passphrase|pwd", re.IGNORECASE)
_META: Final = re.compile(r"<meta\b[^>]{0,300}\bhttp-equiv\s*=\s*[\"']?set-cookie[^>]{0,8000}>?", re.IGNORECASE)
_ENCODED: Final = re.compile("%[0-9A-Fa-f]{2}")
_QUOTES: Final = "\"'\\"


class CookieValues:
    """The values of cookies that were sent or received, which are removed from what a site answers."""

    def __init__(self) -> None:
        self._forms: set[str] = set()

    def add_sent(self, header: str) -> None:
        """Add the values of a Cookie header."""
        for each in header.split(";"):
            self._add(each.partition("=")[2])

    def add_received(self, headers: Iterable[str]) -> None:
        """Add the values of Set-Cookie headers."""
        for each in headers:
            self._add(each.partition(";")[0].partition("=")[2])

    def _add(self, given: str) -> None:
        value = given.strip().strip('"')
        if len(value) >= MIN_COOKIE:
            for each in (value, unquote(value)):
                forms = (each, quote(each), quote(each, safe=""), quote_plus(each), html.escape(each))
                lower = (_ENCODED.sub(lambda found: found[0].lower(), form) for form in forms)
                self._forms.update(form for form in (*forms, *lower) if len(form) >= MIN_COOKIE)

    def hide(self, text: str) -> str:
        """The text without the values, and without cookies in <meta>."""
        for each in sorted(self._forms, key=len, reverse=True):
            text = text.replace(each, HIDDEN_COOKIE)
        return _META.sub(HIDDEN_COOKIE, text)

    @property
    def longest(self) -> int:
        """Characters of the longest value."""
        return max(map(len, self._forms), default=0)


def without_password_inputs(text: str) -> str:
    """HTML without the values of its password fields, also where they are repeated."""
    found: set[str] = set()

    def redacted(tag: re.Match[str]) -> str:
        attributes = list(_ATTRIBUTE.finditer(tag[0]))
        if not any(_SECRET.search(html.unescape(each[2])) for each in attributes if each[1].lower() in _NAMES):
            return tag[0]
        found.update(value for each in attributes if each[1].lower() == "value" for value in _values(each[2]))
        return _ATTRIBUTE.sub(lambda each: f'{each[1]}="{HIDDEN}"' if each[1].lower() == "value" else each[0], tag[0])

    shown = _INPUT.sub(redacted, text)
    try:
        return without_passwords(shown, found)
    except TooManyPasswords:
        return shown  # only the fields themselves


def _values(raw: str) -> Iterator[str]:
    value = raw.strip(_QUOTES)
    yield value
    yield html.unescape(value)
