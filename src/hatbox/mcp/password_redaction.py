"""Removes the values of password fields from accessibility snapshots and URLs. Pure text.

A snapshot is YAML as Playwright writes it: the value of a field follows `: `, plain or in double quotes, also in a line
`- text: ` below the field. Names of elements are in double quotes, and a key with a name may be in single quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

__all__ = [
    "HIDDEN",
    "MAX_CHARACTERS",
    "MAX_PASSWORDS",
    "TooManyPasswords",
    "are_too_many",
    "url_without_passwords",
    "without_passwords",
]

HIDDEN: Final = "(hidden)"
MAX_PASSWORDS: Final = 100
"""Different values of one page."""
MAX_CHARACTERS: Final = 20_000
"""Characters of all values of one page."""

_MIN_SUBSTRING: Final = 4
_MAX_SHORT: Final = 6 * (_MIN_SUBSTRING - 1) + 2  # escaped and in quotes
_SPACE: Final = re.compile(r"\s+")
_SPACE_OF_JAVASCRIPT: Final = re.compile(
    "[\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+"
)
_REMOVED: Final = re.compile("[\\u200b\\u00ad]")  # by Playwright
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ARGUMENT: Final = re.compile(r"(?<==)[^&;#]+")  # of the query of a URL
_IN_URLS: Final = "!#$%&'()*+,/:;=?@[]~"


class TooManyPasswords(Exception):
    """Removing the values would take too long. The text must not be shown."""


def without_passwords(snapshot: str, passwords: Iterable[str]) -> str:
    """The snapshot without these values. Raises TooManyPasswords.

    A value that is the whole text of a line is removed. One that is longer than a few characters is removed everywhere,
    also from labels into which the page has copied it. Takes time in proportion to the snapshot.
    """
    given = {each for each in passwords if each.strip()}
    if are_too_many(given):
        raise TooManyPasswords
    wanted = {form for each in given for form in _normalized(each)}
    short = {form for each in wanted if len(each) < _MIN_SUBSTRING for form in _forms(each)}
    text = snapshot
    if short:
        text = "\n".join(_redacted(line, short) for line in text.split("\n"))
    for each in sorted(wanted, key=len, reverse=True):
        if len(each) >= _MIN_SUBSTRING:
            for form in sorted(set(_forms(each)), key=len, reverse=True):
                text = text.replace(form, HIDDEN)
    return text


def url_without_passwords(url: str, passwords: Iterable[str]) -> str:
    """The URL without these values, also if they are percent-encoded. Raises TooManyPasswords."""
    given = {each for each in passwords if each.strip()}
    wanted = {form for each in given for form in _normalized(each)}
    url = _ARGUMENT.sub(lambda found: HIDDEN if wanted & {found[0], unquote_plus(found[0])} else found[0], url)
    for decoded in (str, unquote, unquote_plus):
        text = decoded(url)
        if (shown := without_passwords(text, given)) != text:
            url = quote(shown, safe=_IN_URLS)
    return url


def are_too_many(passwords: Collection[str]) -> bool:
    """Whether removing these values would take too long."""
    return len(passwords) > MAX_PASSWORDS or sum(map(len, passwords)) > MAX_CHARACTERS


def _forms(value: str) -> Iterator[str]:
    """How a snapshot writes a value: plain, escaped as in JSON, or as Playwright does, within keys in single quotes."""
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    in_hexadecimal = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value.replace("\\", "\\\\"))
    for each in (value, escaped, in_hexadecimal.replace('"', '\\"')):
        yield each
        yield each.replace("'", "''")


def _redacted(line: str, short: set[str]) -> str:
    """The line without its value, if that is a short password: at any colon, because names contain colons too."""
    start = max(0, len(line) - _MAX_SHORT - 2)
    while (colon := line.find(": ", start)) >= 0:
        value = line[colon + 2 :].strip()
        unquoted = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
        if value in short or unquoted in short:
            return f"{line[: colon + 2]}{HIDDEN}"
        start = colon + 1
    return line


def _normalized(value: str) -> set[str]:
    """A value as it is, with white space as in HTML, and as Playwright normalizes it."""
    forms = {value, _SPACE.sub(" ", value).strip(), _SPACE_OF_JAVASCRIPT.sub(" ", value).strip(" ")}
    forms.add(_SPACE_OF_JAVASCRIPT.sub(" ", _REMOVED.sub("", value)).strip(" "))
    return {each for each in forms if each.strip()}
