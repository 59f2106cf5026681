"""Removes what an agent must not see from the responses of fetch: values of cookies and of password fields. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hatbox.engines.http.html import unescaped
from hatbox.mcp.hidden_values import HiddenValues
from hatbox.mcp.password_redaction import HIDDEN, TooManyPasswords, without_passwords

__all__ = ["HIDDEN_COOKIE", "CookieValues", "has_password_field", "without_password_inputs"]

HIDDEN_COOKIE: Final = "(a cookie is omitted)"

# As in HTML, a quote that is not closed extends to the end, so the text is read once.
_REST_OF_TAG: Final = r"\b(?>[^>\"'=]+|=\s*+\"[^\"]*+\"?|=\s*+'[^']*+'?|[\"'=])*+>?"
_INPUT: Final = re.compile(f"<input{_REST_OF_TAG}", re.IGNORECASE)
_META: Final = re.compile(f"<meta{_REST_OF_TAG}", re.IGNORECASE)
# A name is tried at its first character only: a long one without a value would be read again from each of its own.
_ATTRIBUTE: Final = re.compile(r"(?<![^\s\"'<>/=])([^\s\"'<>/=]++)\s*+=\s*+(\"[^\"]*+\"?|'[^']*+'?|[^\s>]++)")
_NAMES: Final = ("type", "name", "id", "autocomplete")
_SECRET: Final = re.compile(r"passw|passcode|passphrase|pwd", re.IGNORECASE)
_QUOTES: Final = "\"'\\"


class CookieValues:
    """The values of cookies that were sent or received, which are removed from what a site answers."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._hidden: HiddenValues | None = None

    def add_sent(self, header: str) -> None:
        """Add the values of a Cookie header."""
        self.add(map(_value_of, header.split(";")))

    def add_received(self, headers: Iterable[str]) -> None:
        """Add the values of Set-Cookie headers."""
        self.add(_value_of(each.partition(";")[0]) for each in headers)

    def add(self, values: Iterable[str]) -> None:
        """Add values."""
        self._values.update(value.strip().strip('"') for value in values)
        self._hidden = None

    def hide(self, text: str) -> str:
        """The text without the values, and without cookies in <meta>."""
        return _META.sub(_without_cookie, self._all.hide(text))

    @property
    def longest(self) -> int:
        """Characters of the longest spelling of a value."""
        return self._all.longest

    @property
    def _all(self) -> HiddenValues:
        if self._hidden is None:
            self._hidden = HiddenValues(self._values, HIDDEN_COOKIE)
        return self._hidden


def without_password_inputs(text: str) -> str:
    """HTML without the values of its password fields, also where they are repeated."""
    found: set[str] = set()

    def redacted(tag: re.Match[str]) -> str:
        attributes = _attributes(tag[0])
        if not any(_SECRET.search(unescaped(value)) for name, value in attributes if name in _NAMES):
            return tag[0]
        found.update(each for name, value in attributes if name == "value" for each in _values(value))
        return _ATTRIBUTE.sub(lambda each: f'{each[1]}="{HIDDEN}"' if each[1].lower() == "value" else each[0], tag[0])

    shown = _INPUT.sub(redacted, text)
    try:
        return without_passwords(shown, found)
    except TooManyPasswords:
        return shown  # only the fields themselves


def has_password_field(text: str) -> bool:
    """Whether HTML has a field of the type password."""
    tags = (tag[0] for tag in _INPUT.finditer(text))
    return any(
        name == "type" and value.strip(_QUOTES).lower() == "password"
        for tag in tags
        if "password" in tag.lower()
        for name, value in _attributes(tag)
    )


def _value_of(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return value if equals else name  # a cookie without a name


def _without_cookie(tag: re.Match[str]) -> str:
    names = (value.strip(_QUOTES).lower() for name, value in _attributes(tag[0]) if name == "http-equiv")
    return HIDDEN_COOKIE if "set-cookie" in names else tag[0]


def _attributes(tag: str) -> list[tuple[str, str]]:
    """The names in lower case, and the values with their quotes."""
    return [(each[1].lower(), each[2]) for each in _ATTRIBUTE.finditer(tag)]


def _values(raw: str) -> Iterator[str]:
    value = raw.strip(_QUOTES)
    yield value
    yield unescaped(value)
