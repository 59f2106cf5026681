"""Validation and normalisation of the settings of an identity, one function per setting. Pure."""

from __future__ import annotations

import re
from typing import Final

from hatbox.errors import InvalidSetting
from hatbox.identity.proxy_url import DIRECT_PROXY, parse_proxy

__all__ = ["accept_language", "accepted_locale", "accepted_proxy", "accepted_timezone", "accepted_user_agent"]

_MAX_USER_AGENT: Final = 1024
_MAX_TIMEZONE: Final = 64
_NOT_PLACES: Final = frozenset({"localtime", "Factory"})  # in the time zone database, but no time zones of users
_HEADER_SAFE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
# BCP 47 (RFC 5646): language, script, region and variants. Extensions and private use are not for Accept-Language.
_LANGUAGE_TAG: Final = re.compile(
    r"(?P<language>[A-Za-z]{2,3})"
    r"(?:-(?P<script>[A-Za-z]{4}))?"
    r"(?:-(?P<region>[A-Za-z]{2}|[0-9]{3}))?"
    r"(?P<variants>(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*)",
    re.ASCII,
)


def accepted_proxy(text: str) -> str:
    """The normalised form of a proxy: `direct` or a URL. Raises InvalidSetting."""
    proxy = parse_proxy(text)
    return DIRECT_PROXY if proxy is None else proxy.text


def accepted_user_agent(text: str) -> str:
    """A user agent without surrounding spaces. Raises InvalidSetting if it cannot be sent in a header."""
    user_agent = text.strip(" \t")
    if not user_agent or len(user_agent) > _MAX_USER_AGENT or not _HEADER_SAFE.fullmatch(user_agent):
        raise InvalidSetting(
            "user agent",
            ascii(text[:80]),
            f"Use 1 to {_MAX_USER_AGENT} printable ASCII characters, without line breaks",
        )
    return user_agent


def accepted_locale(text: str) -> str:
    """A BCP 47 language tag in its usual spelling: de-DE, zh-Hant-TW. Raises InvalidSetting."""
    found = _LANGUAGE_TAG.fullmatch(text.strip(" ").replace("_", "-"))
    variants = found["variants"].lower().split("-")[1:] if found else []
    if found is None or len(set(variants)) < len(variants):
        raise InvalidSetting("locale", ascii(text[:80]), "Use a language tag, such as de, de-DE or zh-Hant-TW")
    parts = (found["language"].lower(), (found["script"] or "").title(), (found["region"] or "").upper(), *variants)
    return "-".join(filter(None, parts))


def accepted_timezone(text: str) -> str:
    """The name of a time zone as the database spells it. Raises InvalidSetting, with the nearest names."""
    import zoneinfo  # imported when a time zone is set only

    given = text.strip(" ")
    known = zoneinfo.available_timezones() - _NOT_PLACES
    if not known:
        raise InvalidSetting("time zone", ascii(text[:80]), "This machine has no time zones: pip install tzdata")
    if given in known:
        return given
    by_folded = {name.casefold(): name for name in known}
    if found := by_folded.get(given.casefold()):
        return found
    raise InvalidSetting("time zone", ascii(text[:80]), _timezone_advice(given[:_MAX_TIMEZONE], by_folded))


def accept_language(locale: str) -> str:
    """The Accept-Language header of a locale, as browsers write it: `de-DE,de;q=0.9`."""
    language = locale.partition("-")[0]
    return locale if language == locale else f"{locale},{language};q=0.9"


def _timezone_advice(given: str, by_folded: dict[str, str]) -> str:
    import difflib

    by_place: dict[str, str] = {}
    for folded, name in sorted(by_folded.items()):
        by_place.setdefault(folded.rpartition("/")[2], name)
    wanted = given.casefold().replace(" ", "_")
    near = [by_folded[each] for each in difflib.get_close_matches(wanted, by_folded, n=3, cutoff=0.75)]
    near += [by_place[each] for each in difflib.get_close_matches(wanted.rpartition("/")[2], by_place, n=2, cutoff=0.8)]
    nearest = ", ".join(dict.fromkeys(near))
    return f"Did you mean {nearest}?" if nearest else "Use a name such as Europe/Berlin, America/New_York or UTC"
