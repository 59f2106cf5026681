"""The sites that an identity is signed in to, for the start page. Pure: sites in, rows out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from hatbox.cookies.cookie_sites import CookieSite

__all__ = ["signed_in_sites"]

_MAX_SITES: Final = 20
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def signed_in_sites(sites: Iterable[CookieSite], now: float) -> dict[str, Any]:
    """The part of the page: a summary, the first sites by name with the date, and how many more exist."""
    found = sorted((site.host, site.signed_in_since) for site in sites if site.signed_in_since is not None)
    rows = [{"host": host, "since": f"since {_date(created, now)}"} for host, created in found[:_MAX_SITES]]
    return {"line": _summary(len(found)), "shown": rows, "more": len(found) - len(rows)}


def _summary(count: int) -> str:
    if not count:
        return "Signed in nowhere."
    return f"Signed in on {count:,} {'site' if count == 1 else 'sites'}."


def _date(time: float, now: float) -> str:
    """`5 Feb`, with the year if it is not the current one. In the time zone of this machine."""
    date, today = datetime.fromtimestamp(time).astimezone(), datetime.fromtimestamp(now).astimezone()
    year = "" if date.year == today.year else f" {date.year}"
    return f"{date.day} {_MONTHS[date.month - 1]}{year}"
