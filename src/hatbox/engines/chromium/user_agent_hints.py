"""User-Agent client hints that agree with a User-Agent (UA-CH). Pure text.

A User-Agent of another browser than Chromium gets none: its browser sends none.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

__all__ = ["hint_headers", "user_agent_override"]

_CHROMIUM: Final = re.compile(r"Chrome/(\d+)((?:\.\d+)*)")
_NO_BRAND: Final = "Not:A-Brand"


class _Platform(NamedTuple):
    sign: str
    platform: str
    """navigator.platform"""
    hint: str
    """Sec-CH-UA-Platform"""


_PLATFORMS: Final = (
    _Platform("Windows NT", "Win32", "Windows"),
    _Platform("Android", "Linux armv81", "Android"),
    _Platform("iPhone", "iPhone", "iOS"),
    _Platform("iPad", "iPad", "iOS"),
    _Platform("Macintosh", "MacIntel", "macOS"),
    _Platform("CrOS", "Linux x86_64", "Chrome OS"),
    _Platform("Linux", "Linux x86_64", "Linux"),
)
_OTHER: Final = _Platform("", "", "Unknown")


def user_agent_override(user_agent: str, locale: str | None) -> dict[str, Any]:
    """The params of Emulation.setUserAgentOverride."""
    platform = _platform(user_agent)
    params: dict[str, Any] = {"userAgent": user_agent, "platform": platform.platform}
    if locale is not None:
        params["acceptLanguage"] = locale
    if found := _CHROMIUM.search(user_agent):
        major, rest = found.groups()
        params["userAgentMetadata"] = {
            "brands": _brands("8", major),
            "fullVersionList": _brands("8.0.0.0", major + (rest or ".0.0.0")),
            "platform": platform.hint,
            "platformVersion": "",
            "architecture": "" if "Mobile" in user_agent else "x86",
            "bitness": "" if "Mobile" in user_agent else "64",
            "model": "",
            "mobile": "Mobile" in user_agent,
        }
    return params


def hint_headers(user_agent: str) -> dict[str, str]:
    """The header that Playwright's own override does not set, for the first request of a window that a page opens."""
    found = _CHROMIUM.search(user_agent)
    if found is None:
        return {}
    return {"Sec-CH-UA": ", ".join(f'"{each["brand"]}";v="{each["version"]}"' for each in _brands("8", found[1]))}


def _brands(other: str, version: str) -> list[dict[str, str]]:
    return [{"brand": _NO_BRAND, "version": other}, {"brand": "Chromium", "version": version}]


def _platform(user_agent: str) -> _Platform:
    return next((each for each in _PLATFORMS if each.sign in user_agent), _OTHER)
