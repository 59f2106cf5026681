"""The headers of a request or response, and the changes of listeners. Pure data.

All listeners get the same headers, and each returns the complete list that it wants. A header missing from a list is
removed, one with another value is changed, and headers that a listener did not change stay as earlier ones set them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from hatbox.web_requests.request_model import Headers

__all__ = ["HeaderChanges", "merge_duplicates", "split_values"]

logger = logging.getLogger("hatbox.web_requests")

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_VALUE: Final = re.compile(r"[\0\r\n]")
_BYTE: Final = 0xFF
_LATIN_1: Final = re.compile(r"[\x00-\xFF]*+")
_LINES: Final = frozenset({"set-cookie", "www-authenticate", "proxy-authenticate"})  # joined with line ends


def merge_duplicates(pairs: Iterable[tuple[str, str]]) -> Headers:
    """Join duplicate headers, in the order of first occurrence."""
    names: dict[str, str] = {}
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        key = name.lower()
        names.setdefault(key, name)
        values.setdefault(key, []).append(value)
    return tuple((name, _separator(key).join(values[key])) for key, name in names.items())


def split_values(name: str, value: str) -> list[str]:
    """Split a joined value into the header lines to send."""
    return value.split("\n") if name.lower() in _LINES else [value]


def _separator(key: str) -> str:
    return "\n" if key in _LINES else ", "


class HeaderChanges:
    """Headers, changed by listeners one after the other."""

    def __init__(self, headers: Headers) -> None:
        self._shown = {name.lower(): value for name, value in headers}
        self._now = {name.lower(): (name, value) for name, value in headers}

    @property
    def headers(self) -> Headers:
        """The current headers."""
        return tuple(self._now.values())

    def apply(self, value: Any, extension_id: str, may_name_host: Callable[[str], bool] | None = None) -> None:
        """Apply the headers that a listener returned. An invalid list is logged, and changes nothing."""
        wanted = _read(value)
        if wanted is None:
            logger.warning("%s: invalid headers array: %.200r", extension_id, value)
            return
        names = {name.lower() for name, _ in wanted}
        for key in self._shown.keys() - names:
            self._now.pop(key, None)
        done: set[str] = set()
        merged: dict[str, list[str]] = {}  # joined once: repeated concatenation takes quadratic time
        for name, value in wanted:
            key = name.lower()
            if self._shown.get(key) != value and _is_possible(name, value, extension_id, may_name_host):
                if key in done and key in self._now:
                    merged.setdefault(key, [self._now[key][1]]).append(value)
                else:
                    self._set(name, value)
            done.add(key)
        for key, values in merged.items():
            self._now[key] = self._now[key][0], _separator(key).join(values)

    def _set(self, name: str, value: str) -> None:
        key = name.lower()
        if value:
            self._now[key] = self._now[key][0] if key in self._now else name, value
        else:
            self._now.pop(key, None)


def _is_possible(name: str, value: str, extension_id: str, may_name_host: Callable[[str], bool] | None) -> bool:
    """Whether a listener may set this header. Rejections are logged."""
    bad = not _NAME.fullmatch(name) or not _LATIN_1.fullmatch(value)
    if bad or any(_NO_VALUE.search(line) for line in split_values(name, value)):
        logger.warning("%s: invalid header %.100r: %.100r", extension_id, name, value)
        return False
    if name.lower() == "host" and value and may_name_host is not None and not may_name_host(value):
        logger.warning("%s: setting Host to %s rejected: missing host permission", extension_id, value)
        return False
    return True


def _read(value: Any) -> list[tuple[str, str]] | None:
    if not isinstance(value, (list, tuple)):
        return None
    pairs = [_pair(each) for each in value]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _pair(header: Any) -> tuple[str, str] | None:
    if not isinstance(header, Mapping) or not isinstance(name := header.get("name"), str):
        return None
    binary, value = header.get("binaryValue"), header.get("value")
    if isinstance(binary, (list, tuple)):
        numbers = [each for each in binary if isinstance(each, int)]
        return name, "".join(chr(each & _BYTE) for each in numbers)
    return (name, value) if isinstance(value, str) else None
