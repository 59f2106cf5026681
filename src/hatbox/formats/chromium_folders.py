"""Finds the user data folders of Chromium and its relatives, and the profiles in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats.base import decode_json
from hatbox.formats.input_files import read_input_file

__all__ = [
    "PREFERENCES",
    "ChromiumProfileFolder",
    "cookies_file",
    "default_user_data",
    "find_user_data",
    "profiles_in",
]

_BRANDS: Final = (
    ("chromium", "Chromium", "Chromium/User Data"),
    ("google-chrome", "Google/Chrome", "Google/Chrome/User Data"),
    ("google-chrome-beta", "Google/Chrome Beta", "Google/Chrome Beta/User Data"),
    ("google-chrome-unstable", "Google/Chrome Canary", "Google/Chrome SxS/User Data"),
    ("microsoft-edge", "Microsoft Edge", "Microsoft/Edge/User Data"),
    ("BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser/User Data"),
    ("vivaldi", "Vivaldi", "Vivaldi/User Data"),
)
"""The folders of each browser on Linux, macOS and Windows."""
_SNAPS: Final = ("snap/chromium/common/chromium", "snap/brave/current/.config/BraveSoftware/Brave-Browser")
_FLATPAKS: Final = {
    "org.chromium.Chromium": "chromium",
    "com.google.Chrome": "google-chrome",
    "com.microsoft.Edge": "microsoft-edge",
    "com.brave.Browser": "BraveSoftware/Brave-Browser",
    "com.vivaldi.Vivaldi": "vivaldi",
}
_NOT_OF_USERS: Final = ("Guest Profile", "System Profile")
_LOCAL_STATE: Final = "Local State"
PREFERENCES: Final = "Preferences"
_COOKIES: Final = ("Network/Cookies", "Cookies")  # since and before Chromium 96; some systems still use the old place


class ChromiumProfileFolder(NamedTuple):
    """A Chromium profile: its folder, the name that Chromium shows, and its cookie database."""

    folder: Path
    name: str
    cookies: Path


class _InfoCache(msgspec.Struct):
    info_cache: dict[str, dict[str, Any]] = {}
    name: str = ""


class _Preferences(msgspec.Struct):
    profile: _InfoCache = msgspec.field(default_factory=_InfoCache)


_decode = msgspec.json.Decoder(_Preferences).decode


def default_user_data(found: list[Path] | None = None) -> Path:
    """The user data folder of this system. Raises ImportExportError without one, or with several."""
    found = find_user_data() if found is None else found
    if not found:
        raise ImportExportError(
            "no Chromium profile found. Specify its folder: chrome://version in Chromium shows it as Profile Path."
        )
    if len(found) > 1:
        listed = "; ".join(map(str, found))
        raise ImportExportError(f"found {len(found)} folders of Chromium browsers: {listed}. Specify one.")
    return found[0]


def find_user_data(
    home: Path | None = None, platform: str = sys.platform, environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """The user data folders of Chromium, Chrome, Edge, Brave and Vivaldi on this system."""
    places = _places(home or Path.home(), platform, environment)
    return [place for place in dict.fromkeys(places) if profiles_in(place)]


def profiles_in(folder: Path) -> list[ChromiumProfileFolder]:
    """The profiles of a user data folder, or the profile of a profile folder; those without cookies are left out."""
    if own := cookies_file(folder):
        return [ChromiumProfileFolder(folder, _shown_name(folder), own)]
    try:
        folders = [each for each in folder.iterdir() if each.is_dir() and each.name not in _NOT_OF_USERS]
    except OSError:
        return []
    return [
        ChromiumProfileFolder(each, _shown_name(each), found)
        for each in sorted(folders, key=_profile_order)
        if (found := cookies_file(each)) is not None
    ]


def cookies_file(folder: Path) -> Path | None:
    """The cookie database of a profile folder; None if it has none."""
    return next((folder / each for each in _COOKIES if (folder / each).exists()), None)


def _places(home: Path, platform: str, environment: Mapping[str, str]) -> list[Path]:
    if platform == "win32":
        root = Path(environment.get("LOCALAPPDATA", home / "AppData" / "Local"))
        return [root / windows for _, _, windows in _BRANDS]
    if platform == "darwin":
        return [home / "Library" / "Application Support" / macos for _, macos, _ in _BRANDS]
    root = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return [
        *(root / linux for linux, _, _ in _BRANDS),
        *(home / each for each in _SNAPS),
        *(home / ".var/app" / app / "config" / each for app, each in _FLATPAKS.items()),
    ]


def _profile_order(folder: Path) -> tuple[bool, int, str]:
    """Default, then Profile 1, Profile 2, …"""
    number = folder.name.removeprefix("Profile ")
    return folder.name != "Default", int(number) if number.isdecimal() else 0, folder.name


def _shown_name(folder: Path) -> str:
    """The name of a profile: of Local State, which is the newer, or of its Preferences, or its folder's."""
    listed = _read(folder.parent / _LOCAL_STATE).info_cache.get(folder.name, {}).get("name")
    return (listed if isinstance(listed, str) else "") or _read(folder / PREFERENCES).name or folder.name


def _read(path: Path) -> _InfoCache:
    try:
        return decode_json(_decode, read_input_file(path), str(path)).profile
    except (OSError, InvalidInputFile):  # only a name is read from it
        return _InfoCache()
