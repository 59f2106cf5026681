"""Cookie dates (RFC 6265bis, 5.1.1): tokens in nearly any order, read one by one. Knows nothing of cookies."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from hatbox.text_cache import cache_short_texts

__all__ = ["parse_date"]

_DELIMITERS: Final = re.compile(r"[\x09\x20-\x2F\x3B-\x40\x5B-\x60\x7B-\x7E]+")
# Each production may go on with anything but a digit. `\d` is wider than ASCII and is of no use here.
_TIME: Final = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY: Final = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR: Final = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}


@cache_short_texts(1024)  # servers repeat dates, and parsing one is the slowest part of storing a cookie
def parse_date(text: str) -> float | None:
    """The time of a cookie date, in seconds since 1970, or None if it is invalid.

    A year before 1601 is invalid in the RFC. Chromium and Firefox accept it as a time in the past.
    """
    time = day = month = year = None
    for token in _DELIMITERS.split(text):
        if time is None and (match := _TIME.match(token)):
            time = match.groups()
        elif day is None and (match := _DAY.match(token)):
            day = int(match[1])
        elif month is None and (number := _MONTHS.get(token[:3].lower())):
            month = number
        elif year is None and (match := _YEAR.match(token)):
            year = _full_year(int(match[1]))
    if time is None or day is None or month is None or year is None:
        return None
    hour, minute, second = map(int, time)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:  # the thirty-first of February, or twenty-five o'clock
        return None


def _full_year(year: int) -> int:
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year
