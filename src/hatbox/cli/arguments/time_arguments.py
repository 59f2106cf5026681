"""Durations and times as users type them: 8h, 1h30m, 2026-12-31, 2026-12-31T18:00."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.terminal_text import visible

__all__ = ["parse_duration", "parse_time", "parse_time_or_age"]

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DURATION: Final = re.compile(r"(?:[0-9]{1,9}[smhdw])+", re.ASCII)
_PART: Final = re.compile(r"([0-9]+)([smhdw])", re.ASCII)


def parse_duration(text: str, option: str) -> float:
    """The seconds of a duration, such as 8h or 1h30m. `option` is the name in errors."""
    if not _DURATION.fullmatch(text):
        message = f"{visible(text[:40])} is not a duration. Use a number with s, m, h, d or w, such as 30m, 8h or 7d"
        raise bad_parameter(message, param_hint=option)
    return float(sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text)))


def parse_time(text: str, option: str) -> float:
    """The seconds since 1970 of a date or time, of this time zone unless it names one."""
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        message = f"{visible(text[:40])} is not a time. Use 2026-12-31, 2026-12-31T18:00 or 2026-12-31T18:00Z"
        raise bad_parameter(message, param_hint=option) from None


def parse_time_or_age(text: str, option: str, now: float) -> float:
    """The seconds since 1970 of a time, or of a duration before now."""
    return now - parse_duration(text, option) if _DURATION.fullmatch(text) else parse_time(text, option)
