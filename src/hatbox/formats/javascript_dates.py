"""JavaScript's text of a date (`Date.prototype.toJSON`), for all years that JavaScript has. Pure."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["iso_of", "milliseconds_of"]

_LIMIT: Final = 8_640_000_000_000_000
_DAY: Final = 86_400_000
_TEXT: Final = re.compile(
    r"(?P<year>[0-9]{4}|[+-][0-9]{6})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})\.(?P<milli>[0-9]{3})Z"
)


def iso_of(milliseconds: float) -> str:
    """The text of a time in milliseconds since 1970. Raises ValueError outside of JavaScript's range."""
    if not -_LIMIT <= milliseconds <= _LIMIT:
        raise ValueError(f"not a time of JavaScript: {milliseconds}")
    days, rest = divmod(int(milliseconds), _DAY)
    year, month, day = _civil(days)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds, milli = divmod(rest, 1000)
    spelled = f"{year:04}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):06}"
    return f"{spelled}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{milli:03}Z"


def milliseconds_of(text: str) -> int:
    """The time of a text, in milliseconds since 1970. Raises ValueError for another text."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"not a time: {text[:40]!r}")
    year, month, day, hour, minute, second, milli = map(int, match.groups())
    days = _days(year, month, day)
    found = days * _DAY + ((hour * 60 + minute) * 60 + second) * 1000 + milli
    if _civil(days) != (year, month, day) or hour > 23 or minute > 59 or second > 59 or abs(found) > _LIMIT:
        raise ValueError(f"not a time: {text}")
    return found


# Python's datetime has the years 1 to 9999 only. The arithmetic counts years from March, in eras of 400 years.


def _days(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (month <= 2), month, day
