"""Chromium profile folders: the cookies of each profile, and of each container of Brave, which become identities.

Read only, also while Chromium runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hatbox.errors import InvalidInputFile
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportKey, Tally, place_key
from hatbox.formats.brave_containers import containers_in
from hatbox.formats.chromium_cookies import read_cookies
from hatbox.formats.chromium_folders import ChromiumProfileFolder, profiles_in
from hatbox.javascript.text import is_blank

__all__ = ["NAME", "read_folder"]

NAME: Final = "chromium"
_ICON: Final = "circle"
_COLOR: Final = "blue"

RECENT: Final = "cookies of the last 30 seconds, if Chromium is running, because it has not written them yet"
SITE_DATA: Final = "localStorage and IndexedDB"


def read_folder(folder: Path) -> Bundle:
    """Read the cookies of a profile folder, or of all profiles of a user data folder."""
    found = profiles_in(folder)
    if not found:
        problem = "not a folder of Chromium: neither Network/Cookies nor Cookies found in it or in its profiles"
        raise InvalidInputFile(str(folder), problem)
    skipped: Tally = Counter()
    entries = [entry for each in found for entry in _entries(each, skipped)]
    return Bundle(entries, skipped=skipped, dropped=Counter({RECENT: 0, SITE_DATA: 0}))


def _entries(found: ChromiumProfileFolder, skipped: Tally) -> Iterator[BundleEntry]:
    place = f"{NAME}:{place_key(found.folder)}"
    name = found.folder.name if is_blank(found.name) else found.name
    yield BundleEntry(
        IdentityAttributes(name, _ICON, _COLOR),
        read_cookies(found.cookies, skipped),
        source=ImportKey(place, lasting=False),
    )
    for container in containers_in(found.folder, skipped):
        yield BundleEntry(
            container.attributes,
            [] if container.cookies is None else read_cookies(container.cookies, skipped),
            source=ImportKey(f"{place}:{container.id}", lasting=False),
        )
